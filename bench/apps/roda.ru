# frozen_string_literal: true

# A tree of routes with a session and JSON that does not leak. Debian has no package of Roda; RUBYLIB may name the
# folder `lib` of its source.
require "roda"

class Shop < Roda
  plugin :sessions, secret: "secret" * 16
  plugin :json

  route do |request|
    request.root { "#{session["visits"] = session["visits"].to_i + 1} visits" }
    request.on("items") do
      request.is { (1..10).map { |number| { "id" => number } } }
      request.get(Integer) { |number| { "id" => number, "name" => "item #{number}" } }
    end
  end
end

run Shop.freeze.app
