# frozen_string_literal: true

require "carat/config/configuration"
require "carat/log/process_log"
require "carat/processes/measures/jit"
require "carat/warmup"
require "carat/warmup/application"
require_relative "endpoints"

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
          log = Log::ProcessLog.new(mold: true)
          ENV["RAILS_RELATIVE_URL_ROOT"] ||= @configuration[:prefix]
          app = Processes::JIT.beside(@configuration) { Warmup::Application.load(@configuration[:rackup]) }
          hooks(:on_mold_boot)
          @endpoints = Endpoints.new(app, @configuration, log)
          Warmup.first(app, @endpoints.template, @configuration[:warm_up], deadline:, log:)
          %i[before_fork after_fork on_worker_boot].each { |name| hooks(name, WORKER) }
        end

        # Returns a callable that makes a GET request to `target`. It raises LabError when the application fails.
        def endpoint(target)
          @endpoints.fetch(target)
        end

        private

        def hooks(...)
          @configuration.hooks.run(...)
        end

        def deadline
          Process.clock_gettime(Process::CLOCK_MONOTONIC) + @configuration[:boot_timeout]
        end
      end
    end
  end
end
