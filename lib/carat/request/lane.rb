# frozen_string_literal: true

require_relative "place"

module Carat
  module Request
    # One thread's way of serving: a request at a time.
    class Lane
      # How many requests the lane takes at once.
      CAPACITY = 1

      # `app` is a Rack application, `native` a Native::Lane; the options and the block are those of Place.
      def initialize(app, native, **options, &fatal)
        @native = native
        @place = Place.new(app, native, **options, &fatal)
      end

      # Serves until the edge sends no more. Raises Native::LinkError when the edge is not understood.
      def run
        @thread = Thread.current
        @native.hello(CAPACITY, false)
        @place.run
      ensure
        @native.leave
      end

      # Takes no more requests; for another thread.
      def drain
        @native.drain
      end

      # Where the request stands that the edge knows by this number: an Array of Strings, or nil.
      def backtrace(_request_id)
        @thread&.backtrace
      end

      # What it does, as numbers by name.
      def stats
        { capacity: CAPACITY, running: @place.request_id ? 1 : 0, served: @place.served }
      end
    end
  end
end
