# frozen_string_literal: true

require_relative "application_errors"

module Carat
  # Bounds how many fibers run at once.
  #
  #   pool = Carat::FiberPool.new(20) { |error| warn error.message }
  #   urls.each { |url| pool.spawn { fetch(url) } } # waits while 20 run
  #   pool.drain
  #
  # Fibers are not kept: Ruby keeps their stacks, and a new fiber has nothing of an earlier one in its storage.
  class FiberPool
    # `size` is a number of fibers; the block, if any, is given each error that a job does not rescue. Without
    # a block the scheduler treats it as the error of any fiber.
    def initialize(size, &on_error)
      raise ArgumentError, "a pool has a whole number of places, 1 or more: #{size.inspect}" unless
        size.is_a?(Integer) && size.positive?

      @size = size
      @on_error = on_error
      @places = Thread::SizedQueue.new(size)
      @draining = Thread::Mutex.new
    end

    # Runs the block in a fiber; waits for a place if all are taken. Returns the fiber. A job may not wait for a place
    # in its own pool: when all do, none ever gets one. Raises SchedulerError in a thread without a scheduler.
    def spawn(&job)
      raise SchedulerError, "a pool takes a scheduler: spawn inside of Carat.run" unless Fiber.scheduler

      @places.push(true)
      begin_job(&job)
    end

    # Returns when all jobs that were spawned before have ended.
    def drain
      @draining.synchronize do
        @size.times { @places.push(true) }
        @size.times { @places.pop }
      end
    end

    # How many jobs run.
    def running
      @places.size
    end

    private

    # A job that cannot begin, as when there is no room for its fiber, takes no place.
    def begin_job(&job)
      begun = false
      Fiber.schedule do
        begun = true
        run(&job)
      end
    ensure
      @places.pop unless begun
    end

    def run
      yield
    rescue *APPLICATION_ERRORS => e
      @on_error ? @on_error.call(e) : raise
    ensure
      @places.pop
    end
  end
end
