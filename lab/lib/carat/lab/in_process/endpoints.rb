# frozen_string_literal: true

require "carat/processes/boot_failure"
require "carat/request/env_template"
require "carat/warmup/local_request"
require_relative "../lab_error"

module Carat
  module Lab
    module InProcess
      # Makes callables that request a path from an application in this process.
      class Endpoints
        # The environments of a worker's requests, an EnvTemplate.
        attr_reader :template

        # `app` is a Rack application, `configuration` a Configuration, and `log` the ProcessLog for `rack.errors`.
        def initialize(app, configuration, log)
          @app = app
          @rackup = configuration[:rackup]
          @template = Request::EnvTemplate.new(release: Rack.release, capacity: configuration[:threads],
                                               several: configuration[:workers] != (1..1),
                                               spool_dir: configuration[:spool_dir],
                                               prefix: configuration[:prefix] || "", errors: log.errors)
        end

        # Returns a callable that makes a GET request to `target`. It raises LabError when the application fails.
        def fetch(target)
          request = Warmup::LocalRequest.new(@app, template, target)
          lambda do
            status = request.call.status
            raise LabError, refusal(target, "responds with status #{status}") if status >= 400
          rescue StandardError, ScriptError => e
            raise if e.is_a?(LabError)

            raise LabError, refusal(target, "raises #{Processes::BootFailure.new(e, file: @rackup)}")
          end
        end

        private

        def refusal(target, what)
          "carat: GET #{target} #{what}; name a path that works with --path"
        end
      end
    end
  end
end
