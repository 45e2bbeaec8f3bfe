# frozen_string_literal: true

require "rack/handler"
require_relative "../../carat"
require_relative "../../carat/launch/rackup/rackup_handler"
require_relative "../../carat/launch/rackup/rails_server"

module Carat
  # The handler for `rackup -s carat` and `rails server -u carat` with Rack 2.
  ::Rack::Handler::Carat = Module.new { extend Launch::RackupHandler }
  ::Rack::Handler.register("carat", "Rack::Handler::Carat")
  Launch::RailsServer.adapt(::Rails::Server) if defined?(::Rails::Server)
end
