# frozen_string_literal: true

require_relative "../../application_errors"
require_relative "fiber_pool/slots"
require_relative "scheduler"

module Carat
  # Limits how many fibers run at once.
  #
  #   pool = Carat::FiberPool.new(20) { |error| warn error.message }
  #   urls.each { |url| pool.spawn { fetch(url) } } # waits while 20 run
  #   pool.drain
  #
  # A fiber is not reused for the next job: Ruby reuses the stacks in any case, and a new fiber has an empty storage.
  class FiberPool
    private_constant :Slots

    # Without a block, the scheduler treats an error of a job as an error of any fiber.
    #
    # @param size [Integer] how many fibers run at once, 1 or more
    # @yieldparam error [Exception] an error that a job did not rescue
    # @raise [ArgumentError] if `size` is no such number
    def initialize(size, &on_error)
      raise ArgumentError, "the size of a pool is a whole number, 1 or more: #{size.inspect}" unless
        size.is_a?(Integer) && size.positive?

      @size = size
      @on_error = on_error
      @slots = Slots.new(size)
    end

    # Runs the block in a fiber. If all slots are taken, waits for one first. A job must not spawn into its own pool:
    # when all jobs wait for a slot, none gets free.
    #
    # @return [Fiber]
    # @raise [SchedulerError] in a thread without a scheduler
    def spawn(&job)
      raise SchedulerError, "a pool needs a scheduler: spawn inside Carat.run" unless Fiber.scheduler

      taken = slots
      taken.take
      begin_job(taken, &job)
    end

    # Waits until all jobs that were spawned before have ended.
    def drain
      slots.drain
    end

    # @return [Integer] how many jobs run in this process
    def running
      slots.count
    end

    private

    # Starts the job's fiber. If the job cannot begin, for instance because the kernel allows no further fiber, frees
    # its slot.
    def begin_job(taken, &job)
      begun = false
      Fiber.schedule do
        begun = true
        run(taken, &job)
      end
    ensure
      taken.leave unless begun
    end

    def run(taken)
      yield
    rescue *APPLICATION_ERRORS => e
      @on_error ? @on_error.call(e) : raise
    ensure
      taken.leave
    end

    def slots
      @slots = Slots.new(@size) unless @slots.here?
      @slots
    end
  end
end
