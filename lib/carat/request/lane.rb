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

      # Serves requests until the edge sends no more. Raises Native::LinkError when the edge sends something unexpected.
      def run
        @thread = Thread.current
        @native.hello(CAPACITY, false)
        @slot.run
      ensure
        @native.leave
      end

      # Makes the lane take no more requests. Any thread may call this.
      def drain
        @native.drain
      end

      # Returns the StackReport of the request with this id, or nil when the request has ended. The slot has no id after
      # the response, when the request may still run: then the report is about it, too.
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
