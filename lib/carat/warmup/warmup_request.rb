# frozen_string_literal: true

require_relative "../log/process_log"
require_relative "local_request"

module Carat
  module Warmup
    # A request to the application in the mold. All workers then share what a first request leaves behind: call caches,
    # compiled templates, schema caches.
    class WarmupRequest
      # Statuses that need no warning.
      GOOD = (200..399)
      # How long the `ensure` blocks of an interrupted request may take.
      GRACE_SECONDS = 1
      private_constant :GOOD, :GRACE_SECONDS

      # `template` is an EnvTemplate, `target` a path with an optional query. Warnings go to
      # the ProcessLog `log`.
      def initialize(app, template, target, log:)
        @request = LocalRequest.new(app, template, target)
        @target = target
        @log = log
      end

      # Runs the request, until `deadline` of the monotonic clock at most, in a thread of its own as a worker does: an
      # application that ends its thread does not end the mold. Failures are logged, and do not keep the server from
      # serving. Returns whether the application has responded as it should.
      def run(deadline:)
        thread = Thread.new { attempt }
        return stop(thread) unless thread.join([deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC), 0].max)

        result = thread.value
        warn("the application has ended its thread") if result.nil?
        result == true
      end

      private

      # Returns whether the status is good; nil if the application ends the thread.
      def attempt
        status = @request.call
        GOOD.cover?(status) || warn("responded with #{status}")
      rescue Exception => e # rubocop:disable Lint/RescueException -- not even `exit` keeps the server from serving
        @log.failure("warm_up #{@target}", e)
        false
      end

      def stop(thread)
        place = thread.backtrace&.first
        warn(["not finished in time (boot_timeout)", *place].join(", at "))
        thread.kill.join(GRACE_SECONDS)
        false
      end

      def warn(message)
        @log.warn("warm_up #{@target}: #{message}")
        false
      end
    end
  end
end
