# frozen_string_literal: true

require "json"
require_relative "orders"

module Carat
  module Lab
    module Leak
      # The application in a worker that is measured: a request to a secret path gets a measurement instead of the
      # application. Other requests cost one comparison.
      class Probe
        # The result of orders that only change something: they are not to leave anything behind.
        NOTHING = "{}"
        private_constant :NOTHING

        # `app` is the Rack application, and `path` the secret.
        def initialize(app, path)
          @app = app
          @path = path
          @orders = Orders.new
        end

        # A Rack application.
        def call(env)
          return @app.call(env) unless env["PATH_INFO"] == @path

          respond(@orders.carry_out(env["QUERY_STRING"]))
        end

        private

        def respond(result)
          body = result.empty? ? NOTHING : JSON.generate(result)
          [200, { "content-type" => "application/json", "content-length" => body.bytesize.to_s }, [body]]
        end
      end
    end
  end
end
