# frozen_string_literal: true

require_relative "../../../../native"

module Carat
  class Scheduler < Native::Scheduler
    module Patches
      # `join` with a limit: Ruby 3.1 passes the limit to the scheduler, but joins anew when it is reached.
      module Thread
        # Not a StandardError, so that no code in between rescues it.
        class Expired < Exception # rubocop:disable Lint/InheritException -- see above
        end

        # Joins as Thread#join, in the fiber, for `limit` seconds in all.
        def join(limit = nil)
          scheduler = Fiber.current_scheduler
          return super unless limit && scheduler.is_a?(Scheduler)

          begin
            scheduler.timeout_after(limit, Expired, "the thread is still running") { super() }
          rescue Expired
            nil
          end
        end
      end

      ::Thread.prepend(Thread) if RUBY_VERSION < "3.2"
    end
  end
end
