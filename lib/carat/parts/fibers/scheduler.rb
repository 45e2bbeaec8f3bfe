# frozen_string_literal: true

require_relative "../../application_errors"
require_relative "../../native"
require_relative "scheduler/async_tasks"
require_relative "scheduler/long_runs"
require_relative "scheduler/offloading"
require_relative "scheduler/patches/condition_variable"
require_relative "scheduler/patches/io"
require_relative "scheduler/patches/kernel"
require_relative "scheduler/patches/mutex"
require_relative "scheduler/patches/thread"
require_relative "scheduler/selecting"

module Carat
  # Raised when a scheduler or a fiber is used in a way that cannot work: a second scheduler in a thread, a scheduler
  # that is closed or belongs to another thread, or more fibers than the kernel allows.
  SchedulerError = Native::SchedulerError

  # Runs the fibers of one thread. A call that would otherwise block the thread blocks only its fiber.
  #
  #   Carat.run do
  #     %w[a b].each { |name| Fiber.schedule { sleep 1; puts name } } # takes one second
  #   end
  #
  # `docs/scheduler.md` lists the calls that still block the thread. The hooks that this class does not define are in
  # the native extension.
  class Scheduler < Native::Scheduler
    include AsyncTasks
    include LongRuns
    include Offloading
    include Selecting

    private_constant :AddressBook, :AsyncTasks, :LongRuns, :Offloading, :Patches, :Selecting, :ThreadPool

    # Ruby passes memory to the hooks as an IO::Buffer, and warns when a process makes its first one. This buffer is the
    # first one, made without the warning.
    Warning[:experimental].tap do |warns|
      Warning[:experimental] = false
      IO::Buffer.new(1)
      Warning[:experimental] = warns
    end

    # Runs the block with a new scheduler for this thread: see Carat.run.
    #
    # @return [Object] the value of the block
    # @raise [SchedulerError] if the thread has a scheduler
    # @raise [Exception] the first error that no fiber rescued
    def self.run(&block)
      raise SchedulerError, "this thread has a scheduler already" if Fiber.scheduler

      scheduler = new
      Fiber.set_scheduler(scheduler)
      scheduler.run(&block)
    ensure
      Fiber.set_scheduler(nil) if scheduler && Fiber.scheduler.equal?(scheduler)
    end

    # @raise [SchedulerError] inside a fiber that a scheduler runs
    def initialize
      raise SchedulerError, "a fiber that a scheduler runs cannot make another scheduler" if Fiber.current_scheduler

      super
      @failure = @tasks = nil
      @interrupted = @closed = false
    end

    # Runs the block in a fiber, and all fibers until none waits. Without a block, runs the fibers that exist already.
    #
    # @return [Object, nil] the value of the block
    # @raise [Exception] the first error that no fiber rescued
    def run(&block)
      value = nil
      fiber { value = attempt(&block) } if block
      run_to_the_end
      raise_failure
      value
    end

    # The hook of `Fiber.schedule`: starts the block in a new fiber, and returns when that fiber waits or ends.
    #
    # @param options [Hash] options of `Fiber.new`, such as `storage:`
    # @return [Fiber]
    # @raise [SchedulerError] if the scheduler is closed, or the kernel allows no further fiber
    # @raise [ArgumentError] without a block
    def fiber(**options, &block)
      raise ArgumentError, "a fiber needs a block" unless block
      raise SchedulerError, "this scheduler is closed" if @closed

      new_fiber(**options, &block).tap { |fiber| start(fiber) }
    end

    # The hook of `Fiber.set_scheduler` and of the end of a thread: runs the remaining fibers. After an interrupt or
    # `exit`, ends the fibers instead: their `ensure` blocks run, but cannot wait.
    #
    # @raise [SchedulerError] inside a fiber that this scheduler runs
    def scheduler_close
      raise SchedulerError, "a fiber cannot replace the scheduler that runs it" if nested?

      run unless @closed || @interrupted
    ensure
      finish unless nested?
    end

    # The hook of `Timeout.timeout`: raises `exception` with `message` in the calling fiber when the block takes longer
    # than `seconds`.
    def timeout_after(seconds, exception, message)
      number = arm_timeout(seconds, exception, message)
      begin
        yield seconds
      ensure
        disarm_timeout(number)
      end
    end

    private

    def new_fiber(**options, &block)
      admit
      Fiber.new(blocking: false, **options) { live(&block) }
    end

    # Runs the block of a fiber. An error of one fiber does not end the others. An exception for the process, such as an
    # interrupt, does.
    def live
      yield
    rescue *APPLICATION_ERRORS => e
      fail_with(e)
    rescue Native::Cancelled
      nil
    rescue Exception # rubocop:disable Lint/RescueException -- it is raised again
      @interrupted = true
      raise
    ensure
      Native::Scheduler.ended
      end_transient_tasks
    end

    # Runs the block of `run`. If other fibers still wait, its error is kept, and raised after them as an error of any
    # fiber; otherwise it is raised at once.
    def attempt
      yield
    rescue *APPLICATION_ERRORS => e
      raise if @failure || waiting.positive?

      @failure = e
      nil
    end

    # Keeps the first error, and prints each as Ruby does for a thread that ends with an error.
    def fail_with(error)
      @failure ||= error
      return unless Thread.current.report_on_exception

      warn("#{Fiber.current.inspect} terminated with exception (report_on_exception is true):",
           error.full_message(highlight: false))
    end

    # Runs the fibers. `@interrupted` is set only when they have ended: a process that one of them forks must still run
    # its own fibers.
    def run_to_the_end
      ended = false
      run_fibers
      ended = true
    ensure
      @interrupted = !ended
    end

    def raise_failure
      failure = @failure
      @failure = nil
      raise failure if failure
    end

    def finish
      return if @closed

      @closed = true
      cancel if @interrupted
      release
    end
  end
end
