# frozen_string_literal: true

require_relative "../../log/counted"
require_relative "../../native"
require_relative "scheduler"
require_relative "fiber_slot"
require_relative "fiber_stack"
require_relative "lane_scheduler"

module Carat
  module Request
    # Serves many requests at once in one thread. Each runs in a fiber that lets the others run while it waits.
    class FiberLane
      # The options of each new fiber: no inherited storage. Ruby 3.1 has no fiber storage.
      FIBER_OPTIONS = (Fiber.method_defined?(:storage) ? { storage: nil } : {}).freeze

      # The seconds until the next attempt to open a slot, when the kernel allows no further fiber.
      RETRY_SECONDS = 1
      private_constant :FIBER_OPTIONS, :RETRY_SECONDS

      # `app` is a Rack application, `native` a Native::Lane. At most `capacity` requests run at once. The ProcessLog
      # `log` gets a warning when one request has kept the thread for longer than `stall_warning` seconds. The other
      # options and the block go to Slot.
      def initialize(app, native, capacity:, stall_warning:, log:, **options, &fatal)
        @app = app
        @native = native
        @capacity = capacity
        @stall_warning = stall_warning
        @log = log
        @options = options
        @fatal = fatal
        @slots = {}.compare_by_identity
        @served = 0
      end

      # Serves requests until the edge sends no more. Raises Native::LinkError when the edge sends something unexpected.
      def run
        @thread = Thread.current
        @scheduler = LaneScheduler.new(@native, @log)
        @scheduler.watch_runs(@stall_warning) { |fiber, seconds| stalled(fiber, seconds) }
        Fiber.set_scheduler(@scheduler)
        @native.hello(@capacity, true)
        Fiber.schedule { open_slots }
        @scheduler.run
        raise @failure if @failure
      ensure
        leave
      end

      # Makes the lane take no more requests. Any thread may call this.
      def drain
        @native.drain
      end

      # Returns the FiberStack report of the request with this id, or nil when the request has ended.
      def stack(request_id)
        fiber = @slots.keys.find { |slot| slot.request_id == request_id }&.fiber
        FiberStack.report(fiber, @thread) if fiber
      end

      # Returns statistics by name; `longest_run` is the longest time that a fiber has kept the thread, in seconds. Any
      # thread may call this. The slots are copied first, because the lane's thread may open another one meanwhile.
      def stats
        { capacity: @capacity, running: running, served: @served + @slots.keys.sum(&:served),
          slots: @slots.size, longest_run: @scheduler&.longest_run }
      end

      private

      # Opens slots as they are needed, until the lane takes no more requests. Then cancels the fibers of the
      # application that still run, as threads end with their process.
      def open_slots
        open_slot while @native.await_slot_demand
        @scheduler.cancel
      end

      def open_slot
        slot = FiberSlot.new(@app, @native, @scheduler, log: @log, **@options, &@fatal)
        @slots[slot] = true
        Fiber.schedule(**FIBER_OPTIONS) { work(slot) }
      rescue SchedulerError => e
        close(slot)
        @log.warn(e.message)
        sleep RETRY_SECONDS
      end

      def work(slot)
        slot.run
      rescue Native::LinkError => e
        @failure ||= e
        @scheduler.cancel
      ensure
        close(slot)
      end

      # Ends the remaining fibers before the lane's socket is closed: since Ruby 4.0, closing an IO waits for the fibers
      # that wait for it. When the thread is killed, Ruby would end the fibers only after this method.
      def leave
        Fiber.set_scheduler(nil)
      ensure
        @slots.each_key(&:leave)
        @native.leave
      end

      def close(slot)
        slot.leave
        @slots.delete(slot)
        @served += slot.served
      end

      def stalled(fiber, seconds)
        slot = @slots.each_key.find { |candidate| candidate.fiber.equal?(fiber) }
        who = slot&.request || "a fiber without a request"
        @log.warn("#{who} blocked the thread for #{seconds.round(2)} s with " \
                  "#{Log::Counted.of(running, "request")} running: fibers give way only when they wait")
      end

      def running
        @slots.keys.count(&:request_id)
      end
    end
  end
end
