# frozen_string_literal: true

require_relative "carat/version"

# Carat, an application server for Ruby: a Rust edge that owns the connections, and Ruby workers that answer.
module Carat
  autoload :FiberPool, File.expand_path("carat/fiber_pool", __dir__)
  autoload :FormFile, File.expand_path("carat/form_file", __dir__)
  autoload :Reactor, File.expand_path("carat/reactor", __dir__)
  autoload :Scheduler, File.expand_path("carat/scheduler", __dir__)
  autoload :SchedulerError, File.expand_path("carat/scheduler", __dir__)
  autoload :StreamInput, File.expand_path("carat/stream_input", __dir__)

  # The command line: one file for each subcommand.
  module CLI
  end

  # The option table, and the sources from which options are read.
  module Config
  end

  # How the command becomes the edge.
  module Launch
  end

  # The Ruby processes of a server: mold, forker, worker, promotion.
  module Processes
    autoload :Worker, File.expand_path("carat/processes/worker", __dir__)
  end

  # What makes a process a good mold.
  module Warmup
    autoload :ForkSafety, File.expand_path("carat/warmup/fork_safety", __dir__)
  end

  # Lanes, and what an application is called with.
  module Request
  end

  # What an application returns, on its way to the edge.
  module Response
  end

  private_constant :CLI, :Config, :Launch, :Processes, :Warmup, :Request, :Response

  # Runs the block in a fiber, and those that it schedules, until all have ended. Returns the block's value; raises the
  # first error of one of them that was not rescued. Raises SchedulerError when the thread has a scheduler.
  def self.run(&block)
    Scheduler.run(&block)
  end

  # What this worker does at the moment (see Processes::Worker#stats), as a Hash for the application; nil outside of a
  # worker.
  def self.stats
    Processes::Worker.current&.stats
  end

  # Declares that this process does not survive a fork from now on, so that it never becomes a mold: for a library that
  # has threads or connections which a fork would break. `reason` is for the log.
  def self.not_fork_safe!(reason)
    Warmup::ForkSafety.objection = reason.to_s
  end
end
