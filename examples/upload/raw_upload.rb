# frozen_string_literal: true

require "rack"
require_relative "receipt"

# Handles uploads whose body is the file itself, as `curl -T file URL` and `curl --data-binary @file URL` send them.
# They bypass Sinatra, which would parse some of them as forms and read them into memory.
class RawUpload
  FORM = "multipart/form-data"

  def initialize(app)
    @app = app
  end

  def call(env)
    return @app.call(env) unless raw?(env)

    begun = Receipt.now
    name = Rack::Utils.unescape_path(env["PATH_INFO"].to_s.split("/").last.to_s)
    receipt = Receipt.new(name.empty? ? nil : name, env["rack.input"], begun: begun)
    [200, { "content-type" => "application/json" }, ["#{receipt.to_json}\n"]]
  end

  private

  def raw?(env)
    %w[PUT POST].include?(env["REQUEST_METHOD"]) && !env["CONTENT_TYPE"].to_s.start_with?(FORM)
  end
end
