# frozen_string_literal: true

require "io/wait"
require_relative "../../log/process_log"
require_relative "../../processes/measures/jit"
require_relative "../../processes/temporary_files"
require_relative "../../warmup/agents"
require_relative "../../warmup/application"
require_relative "../../warmup/pools/idle_pools"

module Carat
  module CLI
    class Doctor
      # Loads the application in a process of its own, as a mold does.
      class Elsewhere
        # The seconds that the process has to clean up after SIGTERM, before it is killed.
        GRACE = 5
        private_constant :GRACE

        # With a `jit`, the process runs the JIT compiler that the Configuration names; `memory` is what the server may
        # use, in bytes.
        def initialize(configuration, jit: false, memory: nil)
          @rackup = configuration[:rackup]
          @limit = configuration[:boot_timeout]
          @beside = jit ? ->(&load) { Processes::JIT.beside(configuration, memory:, &load) } : ->(&load) { load.call }
        end

        # Runs the block in a new process, with the Rack application, and returns its value. Returns nil when the
        # application is not loaded, or the block not over, within boot_timeout.
        def call(&)
          reader, writer = IO.pipe
          pid = fork { report(writer, &) }
          writer.close
          text = reader.read if reader.wait_readable(@limit)
          Marshal.load(text) unless text.to_s.empty? # rubocop:disable Security/MarshalLoad -- from a process of our own
        ensure
          reader.close
          finish(pid)
        end

        private

        def finish(pid)
          waiter = Process.detach(pid)
          signal(:TERM, pid)
          signal(:KILL, pid) unless waiter.join(GRACE)
          waiter.join
        end

        def signal(name, pid)
          Process.kill(name, pid)
        rescue Errno::ESRCH
          nil # the process has ended
        end

        def report(writer)
          [$stdout, $stderr].each { |stream| stream.reopen(File::NULL, "w") }
          app = @beside.call do
            Warmup::Agents.beside(ENV, log: Log::ProcessLog.new) { Warmup::Application.load(@rackup) }
          end
          Warmup::IdlePools.stop
          writer.write(Marshal.dump(yield(app)))
        ensure
          Processes::TemporaryFiles.remove_own(Log::ProcessLog.new)
          exit!
        end
      end
    end
  end
end
