# frozen_string_literal: true

require_relative "slot"
require_relative "stack_report"

module Carat
  module Request
    # Serves one request at a time, in one thread.
    class Lane
      # How many requests the lane takes at once.
      CAPACITY = 1

      # `app` is a Rack application, `native` a Native::Lane; the options and the block go to Slot.
      def initialize(app, native, **options, &fatal)
        @native = native
        @slot = Slot.new(app, native, **options, &fatal)
      end

      # Serves until the edge sends no more. Raises Native::LinkError when the edge sends something unexpected.
      def run
        @thread = Thread.current
        @native.hello(CAPACITY, false)
        @slot.run
      ensure
        @native.leave
      end

      # Takes no more requests. Any thread may call it.
      def drain
        @native.drain
      end

      # Returns where the request with this id stands, as StackReport says it, or nil when it has ended. A request
      # that has its response may still run.
      def stack(request_id)
        current = @slot.request_id
        StackReport.of_thread(@thread) if @thread && (current.nil? || current == request_id)
      end

      # Returns statistics by name.
      def stats
        { capacity: CAPACITY, running: @slot.request_id ? 1 : 0, served: @slot.served }
      end
    end
  end
end
