# frozen_string_literal: true

require_relative "carat/version"

# Carat, an application server for Ruby: a Rust edge owns the connections, Ruby workers run the application.
module Carat
  autoload :Cable, File.expand_path("carat/parts/cable/cable", __dir__)
  autoload :FiberPool, File.expand_path("carat/parts/fibers/fiber_pool", __dir__)
  autoload :FormFile, File.expand_path("carat/form_file", __dir__)
  autoload :Reactor, File.expand_path("carat/parts/fibers/reactor", __dir__)
  autoload :Scheduler, File.expand_path("carat/parts/fibers/scheduler", __dir__)
  autoload :SchedulerError, File.expand_path("carat/parts/fibers/scheduler", __dir__)
  autoload :StreamInput, File.expand_path("carat/stream_input", __dir__)

  # The command line: one file for each subcommand.
  module CLI
  end

  # The option table and the sources of options.
  module Config
  end

  # The step from the command to the edge.
  module Launch
  end

  # The Ruby processes of a server: mold, forker, worker, promotion.
  module Processes
    autoload :FullMarks, File.expand_path("carat/processes/heap/full_marks", __dir__)
    autoload :Worker, File.expand_path("carat/processes/worker", __dir__)
  end

  # Preparing a process to be a mold.
  module Warmup
    autoload :ForkSafety, File.expand_path("carat/warmup/fork_safety", __dir__)
  end

  # The lanes of a worker, and the objects with which the application is called.
  module Request
  end

  # The application's responses on their way to the edge.
  module Response
  end

  # The lines that the Ruby processes write to the log.
  module Log
  end

  # Certificates from an authority that speaks ACME.
  module ACME
  end

  private_constant :ACME, :CLI, :Config, :Launch, :Log, :Processes, :Warmup, :Request, :Response

  # Runs the block in a fiber under a Scheduler, and returns its value when all fibers have ended. Raises the first
  # error that a fiber does not rescue, and SchedulerError when the thread already has a scheduler.
  #
  #   Carat.run { Fiber.schedule { sleep 1 } } # returns after a second
  def self.run(&block)
    Scheduler.run(&block)
  end

  # Returns what this worker is doing, as a Hash: its number (`:worker`), `:generation` and `:pid`, and for each of its
  # `:lanes` the requests `:running` and `:served`. Five keys count since the fork: `:allocated_objects`; `:gc_count`,
  # the number of garbage collections; `:gc_seconds` and `:cpu_seconds`, the CPU time of the collections and of the
  # process; and `:gc_share`, the former divided by the latter. `:heap_extensions` is how many times the heap was
  # extended, in this process and the molds before it, or nil where you size the heap. Returns nil outside of a worker.
  def self.stats
    Processes::Worker.current&.stats
  end

  # Runs a full garbage collection if one is due, and returns whether it has. A further process (`process` in the config
  # file) calls this between two jobs: from the first call on, Ruby runs no full collection within a job unless the heap
  # has grown much meanwhile. Does nothing before Ruby 3.4, where the application manages its own collector, and in a
  # worker, whose full collections the edge orders.
  def self.collect_if_due
    Processes::FullMarks.collect_if_due
  end

  # Declares that forks of this process would be broken, so that it never becomes a mold: for a library with threads or
  # connections that do not survive a fork. `reason` is for the log.
  def self.not_fork_safe!(reason)
    Warmup::ForkSafety.objection = reason.to_s
  end
end
