# frozen_string_literal: true

require_relative "../native"

module Carat
  class Scheduler < Native::Scheduler
    # Ruby 3.1 tells the scheduler for how long a fiber joins a thread, but joins anew when that time is over.
    module Joining
      # No StandardError: nobody in between is to rescue it.
      class Expired < Exception # rubocop:disable Lint/InheritException -- see above
      end

      def join(limit = nil)
        scheduler = Fiber.current_scheduler
        return super unless limit && scheduler.is_a?(Scheduler)

        begin
          scheduler.timeout_after(limit, Expired, "the thread goes on") { super() }
        rescue Expired
          nil
        end
      end
    end

    Thread.prepend(Joining) if RUBY_VERSION < "3.2"
  end
end
