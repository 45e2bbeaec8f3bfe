# frozen_string_literal: true

require_relative "../../../application_errors"
require_relative "../../../native"

module Carat
  class Scheduler < Native::Scheduler
    # Finds fibers that delay all others of their thread because they run for long without a wait. A run begins when a
    # fiber gets control, and ends when the fiber waits or ends.
    #
    # Two methods are in the native extension. `longest_run` returns the length of the longest run so far, the present
    # one included, in seconds as a Float; any thread may call it. `end_run` ends the present run of the calling fiber
    # and begins another, for a fiber that serves one request after another without a wait. If the run was too long, it
    # is reported at once, in the calling fiber.
    module LongRuns
      # Calls the block after each run longer than `seconds`, in a fiber of this scheduler, before other fibers run. An
      # error of the block is printed, and has no other effect.
      #
      #   Fiber.scheduler.watch_runs(0.1) { |fiber, seconds| warn("#{fiber} ran for #{seconds} s") }
      #
      # @param seconds [Numeric] the longest run that is not reported
      # @yieldparam fiber [Fiber] the fiber that ran
      # @yieldparam seconds [Float] how long it ran
      # @raise [ArgumentError] without a block
      def watch_runs(seconds, &watch)
        raise ArgumentError, "a watch needs a block" unless watch

        @watch = watch
        limit_runs(seconds)
      end

      private

      # Reports the long runs that the extension has noted. The extension calls this.
      def report_long_runs
        fiber do
          while (run = next_long_run)
            report_long_run(*run)
          end
        end
      end

      def report_long_run(fiber, seconds)
        @watch.call(fiber, seconds)
      rescue *APPLICATION_ERRORS => e
        warn("the block of watch_runs failed:", e.full_message(highlight: false))
      end
    end
  end
end
