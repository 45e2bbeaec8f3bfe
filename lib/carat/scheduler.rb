# frozen_string_literal: true

require_relative "application_errors"
require_relative "native"
require_relative "scheduler/async_tasks"
require_relative "scheduler/closing_io"
require_relative "scheduler/joining"
require_relative "scheduler/offloading"
require_relative "scheduler/relocking"
require_relative "scheduler/retrying"
require_relative "scheduler/selecting"
require_relative "scheduler/watching"

module Carat
  # A scheduler or a fiber is used as it cannot be used.
  SchedulerError = Native::SchedulerError

  # Runs the fibers of one thread: whatever would block the thread, blocks only the fiber.
  #
  #   Carat.run do
  #     %w[a b].each { |name| Fiber.schedule { sleep 1; puts name } } # takes one second
  #   end
  #
  # `docs/scheduler.md` says what blocks nevertheless. The hooks that are not here are in the extension.
  class Scheduler < Native::Scheduler
    include AsyncTasks
    include Offloading
    include Selecting
    include Watching

    # See Carat.run.
    def self.run(&block)
      raise SchedulerError, "this thread has a scheduler already" if Fiber.scheduler

      scheduler = new
      Fiber.set_scheduler(scheduler)
      scheduler.run(&block)
    ensure
      Fiber.set_scheduler(nil) if scheduler && Fiber.scheduler.equal?(scheduler)
    end

    # Raises SchedulerError inside of a fiber that is scheduled already.
    def initialize
      raise SchedulerError, "a scheduler is made by a fiber that another one runs" if Fiber.current_scheduler

      super
      @failure = @tasks = nil
      @interrupted = @closed = false
    end

    # Runs the block, if there is one, in a fiber. Returns its value when no fiber waits any more, or raises the first
    # error that no fiber rescued.
    def run(&block)
      value = nil
      fiber { value = attempt(&block) } if block
      run_to_the_end
      raise_failure
      value
    end

    # The hook of `Fiber.schedule`: starts the block, and returns its fiber when it waits for the first time.
    # Raises SchedulerError when there are as many fibers as the kernel allows.
    def fiber(**options, &block)
      raise ArgumentError, "a fiber needs a block" unless block
      raise SchedulerError, "this scheduler is closed" if @closed

      new_fiber(**options, &block).tap { |fiber| start(fiber) }
    end

    # The hook of `Fiber.set_scheduler` and of a thread's end: runs what is left. What an interrupt (or `exit`) leaves
    # behind is ended instead: its `ensure` blocks run, but may wait for nothing.
    def scheduler_close
      raise SchedulerError, "a scheduler cannot be replaced by a fiber that it runs" if nested?

      run unless @closed || @interrupted
    ensure
      finish unless nested?
    end

    # The hook of `Timeout.timeout`.
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

    # A fiber's life. Errors of one are not the others' concern; those that are meant for the process are.
    def live
      yield
    rescue *APPLICATION_ERRORS => e
      fail_with(e)
    rescue Native::Cancelled
      nil
    rescue Exception # rubocop:disable Lint/RescueException -- it goes on its way
      @interrupted = true
      raise
    ensure
      Native::Scheduler.ended
      end_transient_tasks
    end

    # The error of the block of `run` is reported too, but for one that is raised at once: all others have ended.
    def attempt
      yield
    rescue *APPLICATION_ERRORS => e
      raise if @failure || waiting.positive?

      @failure = e
      nil
    end

    # As an error that ends a thread.
    def fail_with(error)
      @failure ||= error
      return unless Thread.current.report_on_exception

      warn("#{Fiber.current.inspect} terminated with exception (report_on_exception is true):",
           error.full_message(highlight: false))
    end

    # While the loop runs it is not interrupted: a process that is forked meanwhile has fibers of its own to run.
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
