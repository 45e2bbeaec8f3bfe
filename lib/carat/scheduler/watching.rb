# frozen_string_literal: true

require_relative "../native"

module Carat
  class Scheduler < Native::Scheduler
    # Makes visible what computes: a fiber that runs for long without giving way holds up all others of its thread. Such
    # a stretch begins when control is handed to the fiber, and ends when it waits or ends.
    #
    # `longest_stretch` returns how many seconds the longest took, the one that runs included; any thread may ask.
    # `close_stretch` ends the current stretch of the fiber that runs and begins another one: for a server, between two
    # requests that a fiber serves without waiting. If it was too long, the watch is called at once, in the same fiber.
    module Watching
      # Has the block called with the fiber and its seconds after each stretch that took more than so many seconds: in a
      # fiber of this scheduler, before the others have their turn. What it raises is only printed.
      #
      #   Fiber.scheduler.watch_stretches(0.1) { |fiber, seconds| warn("#{fiber} ran for #{seconds} s") }
      def watch_stretches(seconds, &watch)
        raise ArgumentError, "a watch needs a block" unless watch

        @stretch_watch = watch
        limit_stretches(seconds)
      end

      private

      # Called by the loop.
      def report_stretches
        fiber do
          while (stretch = next_stretch)
            report_stretch(*stretch)
          end
        end
      end

      def report_stretch(fiber, seconds)
        @stretch_watch.call(fiber, seconds)
      rescue *APPLICATION_ERRORS => e
        warn("the watch of stretches failed:", e.full_message(highlight: false))
      end
    end
  end
end
