# frozen_string_literal: true

require "json"
require_relative "growth_trace"
require_relative "worker_census"

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
        end

        # A Rack application.
        def call(env)
          return @app.call(env) unless env["PATH_INFO"] == @path

          respond(measure(env["QUERY_STRING"]))
        end

        private

        def measure(order)
          case order
          when "census" then WorkerCensus.take
          when "trace" then trace.start
          when "round" then trace.round
          when "watch" then trace.watch
          when "sites" then trace.sites
          end
        end

        def trace
          @trace ||= GrowthTrace.new
        end

        def respond(result)
          body = result.empty? ? NOTHING : JSON.generate(result)
          [200, { "content-type" => "application/json", "content-length" => body.bytesize.to_s }, [body]]
        end
      end
    end
  end
end
