# frozen_string_literal: true

require_relative "../../../../native"

module Carat
  class Scheduler < Native::Scheduler
    module Patches
      # Patches Thread#join with a limit: Ruby 3.1 passes the limit to the scheduler, but begins to join again when the
      # limit is reached.
      module Thread
        # Raised at the limit. Not a StandardError, so that no code in between rescues it.
        class Expired < Exception # rubocop:disable Lint/InheritException -- see above
        end

        # Joins in the fiber, as Thread#join does, for `limit` seconds in all.
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
