# frozen_string_literal: true

require_relative "application_errors"
require_relative "fiber_pool/places"
require_relative "scheduler"

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
      @places = Places.new(size)
    end

    # Runs the block in a fiber; waits for a place if all are taken. Returns the fiber. A job may not wait for a place
    # in its own pool: when all do, none ever gets one. Raises SchedulerError in a thread without a scheduler.
    def spawn(&job)
      raise SchedulerError, "a pool takes a scheduler: spawn inside of Carat.run" unless Fiber.scheduler

      taken = places
      taken.take
      begin_job(taken, &job)
    end

    # Returns when all jobs that were spawned before have ended.
    def drain
      places.drain
    end

    # How many jobs run in this process.
    def running
      places.count
    end

    private

    # A job that cannot begin, as when there is no room for its fiber, takes no place.
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

    def places
      @places = Places.new(@size) unless @places.here?
      @places
    end
  end
end
