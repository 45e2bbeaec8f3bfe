# frozen_string_literal: true

require_relative "../../config/configuration"
require_relative "../../log/process_log"
require_relative "../../processes/boot_failure"
require_relative "../../request/env_template"
require_relative "../../warmup"
require_relative "../../warmup/application"
require_relative "../../warmup/local_request"
require_relative "../lab_error"

module Carat
  module Lab
    # Measurements of requests that are made within the application's process.
    module InProcess
      # The application, loaded and warmed up in this process as a mold does it, and ready for requests as in a worker.
      class Application
        # The number of the worker, for hooks.
        WORKER = 1
        private_constant :WORKER

        # `words` are those of Flags#words. Raises what the application raises.
        def initialize(words)
          @configuration = Config::Configuration.from_words(words)
          @log = Log::ProcessLog.new(mold: true)
          ENV["RAILS_RELATIVE_URL_ROOT"] ||= @configuration[:prefix]
          @app = Warmup::Application.load(@configuration[:rackup])
          hooks(:on_mold_boot)
          Warmup.first(@app, template, @configuration[:warm_up], deadline:, log: @log)
          %i[before_fork after_fork on_worker_boot].each { |name| hooks(name, WORKER) }
        end

        # Returns a callable that makes a GET request to `target`. It raises LabError when the application fails.
        def endpoint(target)
          request = Warmup::LocalRequest.new(@app, template, target)
          lambda do
            status = request.call
            raise LabError, refusal(target, "responds with status #{status}") if status >= 400
          rescue StandardError, ScriptError => e
            raise if e.is_a?(LabError)

            raise LabError, refusal(target, "raises #{Processes::BootFailure.new(e, file: @configuration[:rackup])}")
          end
        end

        private

        def hooks(...)
          @configuration.hooks.run(...)
        end

        def refusal(target, what)
          "carat: GET #{target} #{what}; name a path that works with --path"
        end

        def template
          @template ||= Request::EnvTemplate.new(release: Rack.release, capacity: @configuration[:threads],
                                                 several: @configuration[:workers] != (1..1),
                                                 spool_dir: @configuration[:spool_dir],
                                                 prefix: @configuration[:prefix] || "", errors: @log.errors)
        end

        def deadline
          Process.clock_gettime(Process::CLOCK_MONOTONIC) + @configuration[:boot_timeout]
        end
      end
    end
  end
end
