# frozen_string_literal: true

require "io/wait"
require_relative "../../../log/process_log"
require_relative "../../../processes/worker_exit"
require_relative "../../../warmup/application"
require_relative "../../../warmup/fork_safety"
require_relative "../../../warmup/pools/idle_pools"
require_relative "finding"

module Carat
  module CLI
    class Doctor
      # The threads that the application starts while it is loaded: no worker has them. A process of its own loads the
      # application.
      class Threads
        # Seconds that the process may take to clean up when it has taken too long to load the application.
        GRACE = 5
        UNKNOWN = "unknown: the application cannot be loaded; start it to see why"
        private_constant :GRACE, :UNKNOWN

        def initialize(configuration)
          @rackup = configuration[:rackup]
          @limit = configuration[:boot_timeout]
        end

        # Returns the Finding.
        def finding
          threads = load_elsewhere
          return Finding.warning("threads", UNKNOWN) unless threads
          return Finding.ok("threads", "the application starts none before the fork") if threads.empty?

          Finding.warning("threads", "no worker has the threads that the application starts before the fork; start " \
                                     "them in on_worker_boot: #{threads.join("; ")}")
        end

        private

        # Returns the texts about the threads, or nil when the application cannot be loaded within boot_timeout.
        def load_elsewhere
          reader, writer = IO.pipe
          pid = fork { report(writer) }
          writer.close
          text = reader.read if reader.wait_readable(@limit)
          Marshal.load(text) unless text.to_s.empty? # rubocop:disable Security/MarshalLoad -- from a process of our own
        ensure
          reader.close
          finish(pid)
        end

        def finish(pid)
          waiter = Process.detach(pid)
          signal(:TERM, pid)
          signal(:KILL, pid) unless waiter.join(GRACE)
          waiter.join
        end

        def signal(name, pid)
          Process.kill(name, pid)
        rescue Errno::ESRCH
          nil # it has ended
        end

        def report(writer)
          [$stdout, $stderr].each { |stream| stream.reopen(File::NULL, "w") }
          Warmup::Application.load(@rackup)
          Warmup::IdlePools.stop
          writer.write(Marshal.dump(Warmup::ForkSafety.survivors))
        ensure
          Processes::WorkerExit.remove_temporary_files(Log::ProcessLog.new)
          exit!
        end
      end
    end
  end
end
