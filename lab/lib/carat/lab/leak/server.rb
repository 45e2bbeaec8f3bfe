# frozen_string_literal: true

require "json"
require "securerandom"
require "tmpdir"
require "carat/config/config_error"
require "carat/config/configuration"
require "carat/launch/launch_error"
require "carat/launch/launcher"
require "carat/log/process_log"
require "carat/native"
require_relative "../lab_error"
require_relative "../library"
require_relative "connection"

module Carat
  module Lab
    module Leak
      # A server with one worker and one thread, started as `carat` starts one, that listens to a Unix socket of its
      # own. What would replace the worker, redirect requests, or collide with a running server is off.
      class Server
        # The options that differ from those of the application's configuration. Requests come one at a time: with more
        # threads they would take turns, and what the allocator caches for each thread would blur the bytes. Other
        # policies than Ruby's give the heap its room in steps, over thousands of requests.
        OPTIONS = { workers: "1", threads: "1", reload: "false", refork: "off", force_tls: "false", access_log: "false",
                    gc: "ruby", worker_requests: "1000000000", worker_age: "365d", worker_memory: "1TB" }.freeze

        # The program of the mold; the format receives the load path and the path of the Probe.
        LIBRARY = "carat/native_path"
        PROGRAM = '$LOAD_PATH.push(*%p); require "carat/lab/leak/in_worker/mold"; ' \
                  "module Carat; Lab::Leak::Mold.start(ARGV, %p); end"

        # Seconds between the signal to stop and SIGKILL.
        STOP_SECONDS = 5
        BOOT_SECONDS = 600

        # Seconds between two looks at a server that boots.
        PAUSE = 0.1

        # What the log says when a worker ends before it serves, and how often it may: the server would go on for ever.
        FAILURE = / error worker failed to boot /
        ATTEMPTS = 3

        # The last lines of the log of a server that does not boot.
        LOG_LINES = 40
        private_constant :LIBRARY, :PROGRAM, :STOP_SECONDS, :BOOT_SECONDS, :PAUSE, :FAILURE, :ATTEMPTS, :LOG_LINES

        # Starts a server, yields it, and stops it. `words` are those of Flags#words. Raises LabError.
        def self.open(words)
          Dir.mktmpdir("carat-leak") do |directory|
            server = new(words, directory)
            server.start
            yield server
          ensure
            server&.stop
          end
        end

        # `directory` is for the server's sockets.
        def initialize(words, directory)
          @directory = directory
          @probe = "/carat-leak-#{SecureRandom.hex(16)}"
          @words = words.reject { |word| overridden.key?(word[/\A\w+/].to_sym) } +
                   overridden.map { |name, value| "#{name}=#{value}" }
          @connection = Connection.new(socket)
        end

        # Boots the server. Raises LabError.
        def start
          reader, writer = IO.pipe
          @waiter = Process.detach(fork { become_edge(reader, writer) })
          writer.close
          deadline = now + BOOT_SECONDS
          raise LabError, refusal if now >= deadline || hopeless? until reader.wait_readable(PAUSE)
          raise LabError, refusal unless reader.read(1)
        ensure
          [reader, writer].compact.each(&:close)
        end

        # Requests the targets in turn, `count` requests in all. Raises LabError when one is answered with an error.
        def request(targets, count)
          count.times do
            target = targets.first
            targets.rotate!
            @connection.send(target)
            status, = @connection.receive
            raise LabError, complaint(target, status) if status >= 400
          end
        end

        # Sends an order to the Probe and returns its parsed result.
        def ask(order)
          @connection.send("#{@probe}?#{order}")
          status, body = @connection.receive
          raise LabError, "carat: the measurement failed (status #{status}); the log says why" unless status == 200

          JSON.parse(body, symbolize_names: true)
        rescue JSON::ParserError
          raise LabError, "carat: the application changes the measurement's responses"
        end

        # The path of the server's control socket.
        def control_socket
          File.join(@directory, "control")
        end

        # Stops the server.
        def stop
          @connection.close
          return unless @waiter

          signal(:TERM)
          signal(:KILL) unless @waiter.join(STOP_SECONDS)
          @waiter.join
        end

        private

        def overridden
          own = { bind: "unix://#{socket}", control_socket:, pidfile: File.join(@directory, "pid"), log: }
          { **OPTIONS, **own }
        end

        def socket
          File.join(@directory, "socket")
        end

        # The server's log; what the application writes goes to standard error.
        def log
          File.join(@directory, "log")
        end

        def signal(name)
          Process.kill(name, @waiter.pid)
        rescue Errno::ESRCH
          nil # it has ended
        end

        def hopeless?
          File.exist?(log) && File.read(log).scan(FAILURE).size >= ATTEMPTS
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # The mold has written to standard error.
        def refusal
          lines = File.exist?(log) ? File.readlines(log, chomp: true).last(LOG_LINES) : []
          [*lines, "carat: the application does not boot; the lines above say why"].join("\n")
        end

        def complaint(target, status)
          "carat: GET #{target} responds with status #{status}; name a path that works with --path"
        end

        # In the forked process: an interrupt of the terminal is for the command alone, and standard output for its
        # report.
        def become_edge(reader, writer)
          Process.setpgid(0, 0)
          Native.die_with_parent
          reader.close
          $stdout.reopen($stderr)
          configuration = Config::Configuration.from_words([*@words, "ready_fd=#{writer.fileno}"])
          mold = [LIBRARY, format(PROGRAM, Library.directories, @probe)]
          Launch::Launcher.new(configuration, @words, mold:).launch(log: Log::ProcessLog.new)
        rescue Config::ConfigError, Launch::LaunchError => e
          warn(e.message)
        ensure
          exit!(1)
        end
      end
    end
  end
end
