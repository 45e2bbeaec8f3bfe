# frozen_string_literal: true

require "json"
require_relative "../cable"
require_relative "command"

module Carat
  module Cable
    # A Rack application around the user's application, which runs the commands of open sockets.
    class Endpoint
      # `app` is a Rack application.
      def initialize(app)
        @app = app
      end

      # Returns the response to a command, or else that of the application, which also gets the handshakes.
      def call(env)
        return @app.call(env) unless env[FLAG] == true && env["REQUEST_METHOD"] == "POST"

        order = env["rack.input"].read.force_encoding(Encoding::UTF_8)
        Command.new(::ActionCable.server, JSON.parse(order)).response
      end
    end
  end
end
