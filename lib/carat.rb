# frozen_string_literal: true

require_relative "carat/version"
require_relative "carat/config_error"
require_relative "carat/configuration"

# Carat, an application server for Ruby: a Rust edge that owns the connections, and Ruby workers that answer.
module Carat
  autoload :ForkSafety, File.expand_path("carat/fork_safety", __dir__)
  autoload :FiberPool, File.expand_path("carat/fiber_pool", __dir__)
  autoload :Reactor, File.expand_path("carat/reactor", __dir__)
  autoload :Scheduler, File.expand_path("carat/scheduler", __dir__)
  autoload :SchedulerError, File.expand_path("carat/scheduler", __dir__)
  autoload :Worker, File.expand_path("carat/worker", __dir__)

  # Runs the block in a fiber, and those that it schedules, until all have ended. Returns the block's value; raises the
  # first error of one of them that was not rescued. Raises SchedulerError when the thread has a scheduler.
  def self.run(&block)
    Scheduler.run(&block)
  end

  # What this worker does at the moment (see Worker#stats), as a Hash for the application; nil outside of a worker.
  def self.stats
    Worker.current&.stats
  end

  # Declares that this process does not survive a fork from now on, so that it never becomes a mold: for a library that
  # has threads or connections which a fork would break. `reason` is for the log.
  def self.not_fork_safe!(reason)
    ForkSafety.objection = reason.to_s
  end
end
