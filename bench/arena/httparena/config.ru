# frozen_string_literal: true

require "uri"

# What HttpArena asks of an engine: GET /pipeline, and sums of the parameters a and b and of the body.
TEXT = { "content-type" => "text/plain" }.freeze

sum = lambda do |env|
  numbers = URI.decode_www_form(env["QUERY_STRING"].to_s).to_h.values_at("a", "b")
  numbers << env["rack.input"].read if env["REQUEST_METHOD"] == "POST"
  [200, TEXT, [numbers.sum(&:to_i).to_s]]
end
routes = { "/pipeline" => ->(_env) { [200, TEXT, ["ok"]] }, "/baseline11" => sum, "/baseline2" => sum }.freeze

run ->(env) { routes.fetch(env["PATH_INFO"], ->(_) { [404, TEXT, ["not found"]] }).call(env) }
