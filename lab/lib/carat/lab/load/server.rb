# frozen_string_literal: true

require "tmpdir"
require "carat/native"
require_relative "../lab_error"
require_relative "../processes/process_tree"

module Carat
  module Lab
    module Load
      # A server that is started for a measurement, with a log of its own.
      class Server
        BOOT_SECONDS = 600
        STOP_SECONDS = 10

        # Seconds between two looks at a server that boots.
        PAUSE = 0.02

        # Attempts to boot a worker.
        ATTEMPTS = 3

        # The last lines of the log of a server that does not boot.
        LOG_LINES = 40
        OUTPUT = "output"
        private_constant :BOOT_SECONDS, :STOP_SECONDS, :PAUSE, :ATTEMPTS, :LOG_LINES, :OUTPUT

        # Where it listens, such as `http://127.0.0.1:41234`.
        attr_reader :url

        # Starts a server, yields it, and stops it. `program` is a CaratProgram or has its methods; the server runs in
        # `directory` with these environment variables. Raises LabError.
        def self.open(program, directory: Dir.pwd, environment: {})
          Dir.mktmpdir("carat-load") do |files|
            server = new(program, files)
            server.start(directory, environment)
            yield server
          ensure
            server&.stop
          end
        end

        # `files` is a directory for the server's files.
        def initialize(program, files)
          @program = program
          @files = files
        end

        # Returns when the server listens. Raises LabError.
        def start(directory, environment)
          pid = fork { become(directory, environment) }
          @waiter = Process.detach(pid)
          deadline = now + BOOT_SECONDS
          until (@url = announced)
            raise LabError, refusal unless @waiter.alive? && now < deadline && !hopeless?

            @waiter.join(PAUSE)
          end
        end

        # Returns the ProcessTree.
        def tree
          @tree ||= ProcessTree.new(@waiter.pid)
        end

        # Stops the server and what it has started.
        def stop
          return unless @waiter

          signal(:TERM, @waiter.pid)
          signal(:KILL, -@waiter.pid) unless @waiter.join(STOP_SECONDS)
          @waiter.join
        end

        private

        # In the forked process. A group of its own: an interrupt of the terminal is for the command alone.
        def become(directory, environment)
          Process.setpgid(0, 0)
          Native.die_with_parent
          output = File.join(@files, OUTPUT)
          exec(environment, *@program.command(@files), chdir: directory, in: File::NULL, out: [output, "w"],
                                                       err: %i[child out], **@program.redirections(@files))
        ensure
          exit!(1)
        end

        def announced
          path = @program.announcement(@files)
          File.read(path)[@program.class::ANNOUNCEMENT, 1] if File.exist?(path)
        end

        def hopeless?
          failure = @program.class::FAILURE or return false

          log = @program.log(@files)
          File.exist?(log) && File.read(log).scan(failure).size >= ATTEMPTS
        end

        # What the server and the application have written.
        def refusal
          lines = [OUTPUT, File.basename(@program.log(@files))].uniq.flat_map do |name|
            path = File.join(@files, name)
            File.exist?(path) ? File.readlines(path, chomp: true) : []
          end
          [*lines.last(LOG_LINES), "carat: the application does not boot; the lines above say why"].join("\n")
        end

        def signal(name, pid)
          Process.kill(name, pid)
        rescue Errno::ESRCH
          nil # it has ended
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
