# frozen_string_literal: true

require_relative "../native"
require_relative "../scheduler"
require_relative "fiber_place"
require_relative "lane_scheduler"

module Carat
  module Request
    # One thread's way of serving many requests at once: each in a fiber, which gives way to the others when it waits.
    class FiberLane
      # Ruby 3.1 has no storage that a fiber could inherit.
      FIBER_OPTIONS = (Fiber.method_defined?(:storage) ? { storage: nil } : {}).freeze

      # When the kernel has no room for a further fiber, it may have some a second later.
      RETRY_SECONDS = 1
      private_constant :FIBER_OPTIONS, :RETRY_SECONDS

      # `app` is a Rack application, `native` a Native::Lane. At most `capacity` requests run at once; the callable
      # `say` is given the words for one that has kept the thread for longer than `stall_warning` seconds. The other
      # options and the block are those of Place.
      def initialize(app, native, capacity:, stall_warning:, say:, errors: $stderr, **options, &fatal)
        @app = app
        @native = native
        @capacity = capacity
        @stall_warning = stall_warning
        @say = say
        @errors = errors
        @options = options
        @fatal = fatal
        @places = {}.compare_by_identity
        @served = 0
      end

      # Serves until the edge sends no more. Raises Native::LinkError when the edge is not understood.
      def run
        @scheduler = LaneScheduler.new(@errors)
        @scheduler.watch_stretches(@stall_warning) { |fiber, seconds| stalled(fiber, seconds) }
        Fiber.set_scheduler(@scheduler)
        @native.hello(@capacity, true)
        Fiber.schedule { supply }
        @scheduler.run
        raise @failure if @failure
      ensure
        @places.each_key(&:leave)
        @native.leave
      end

      # Takes no more requests; for another thread.
      def drain
        @native.drain
      end

      # Where the request stands that the edge knows by this number: an Array of Strings, or nil.
      def backtrace(request_id)
        @places.keys.find { |place| place.request_id == request_id }&.fiber&.backtrace
      end

      # What it does, as numbers by name; the longest stretch is that of a fiber that kept the thread, in seconds. For
      # any thread: none of them may be iterating over the places when this one opens another, so they take copies.
      def stats
        { capacity: @capacity, running: running, served: @served + @places.keys.sum(&:served),
          places: @places.size, longest_stretch: @scheduler&.longest_stretch }
      end

      private

      # Opens places as they are needed. What the application has left running ends with the last of them, as its
      # threads end with the process.
      def supply
        open_place while @native.await_vacancy
        @scheduler.cancel
      end

      def open_place
        place = FiberPlace.new(@app, @native, @scheduler, errors: @errors, **@options, &@fatal)
        @places[place] = true
        Fiber.schedule(**FIBER_OPTIONS) { work(place) }
      rescue SchedulerError => e
        close(place)
        @say.call(e.message)
        sleep RETRY_SECONDS
      end

      def work(place)
        place.run
      rescue Native::LinkError => e
        @failure ||= e
        @scheduler.cancel
      ensure
        close(place)
      end

      def close(place)
        place.leave
        @places.delete(place)
        @served += place.served
      end

      def stalled(fiber, seconds)
        place = @places.each_key.find { |candidate| candidate.fiber.equal?(fiber) }
        who = place&.request || "a fiber without a request"
        @say.call("#{who} kept the thread for #{seconds.round(2)} s, in which no other of " \
                       "#{running} requests went on: fibers give way only when they wait")
      end

      def running
        @places.keys.count(&:request_id)
      end
    end
  end
end
