# frozen_string_literal: true

require "io/wait"
require "open3"
require_relative "../../lab_error"
require_relative "oha"
require_relative "wrk"

module Carat
  module Lab
    module Load
      # The load generator that is installed.
      class Generator
        # The ones that are known, the preferred first.
        TOOLS = [Oha, Wrk].freeze

        # Seconds between two looks at the clock.
        TICK = 0.1

        # Seconds that a generator may take longer than it was told, or than an interrupt allows.
        GRACE = 90
        INTERRUPT_GRACE = 10
        CHUNK = 64 * 1024
        private_constant :TOOLS, :TICK, :GRACE, :INTERRUPT_GRACE, :CHUNK

        # Returns the one that the directories of `path` hold. Raises LabError.
        def self.find(path = ENV.fetch("PATH", ""))
          places = path.split(":").select { |directory| directory.start_with?("/") }
          TOOLS.each do |tool|
            program = places.map { |directory| File.join(directory, tool::NAME) }
                            .find { |file| File.file?(file) && File.executable?(file) }
            return new(tool, program) if program
          end
          raise LabError, "carat: no load generator is installed: apt install wrk, or cargo install oha"
        end

        # `tool` is one of TOOLS, `program` the path of its program.
        def initialize(tool, program)
          @tool = tool
          @program = program
        end

        # Returns the name of the program.
        def name
          @tool::NAME
        end

        # Whether its latencies are corrected for coordinated omission.
        def corrects?
          @tool::CORRECTS
        end

        # Returns its version, as it prints it.
        def version
          output, = Open3.capture2e(*@tool.version_command(@program))
          output[/\d+\.\d+[.\w]*/]
        end

        # Loads `url` and returns the Traffic. Yields the seconds so far, now and then. An Interrupt ends the load; the
        # Traffic then covers what was done, or the Interrupt goes on if nothing was. Raises LabError.
        def run(url, seconds:, connections:, &block)
          @interrupted = false
          output = execute(@tool.command(@program, url, seconds:, connections:), now + seconds + GRACE, &block)
          traffic = @tool.parse(output)
          raise Interrupt if @interrupted && !traffic
          raise LabError, "carat: #{name} fails: #{output.strip.lines.last.to_s.strip}" unless traffic

          traffic.interrupted = @interrupted
          traffic
        end

        private

        # The generator has a process group of its own, so that a terminal interrupts only this process.
        def execute(command, deadline, &)
          reader, writer = IO.pipe
          pid = Process.spawn(*command, in: File::NULL, out: writer, err: writer, pgroup: true)
          writer.close
          receive(reader, pid, deadline, &)
        ensure
          reader&.close
          end_process(pid)
        end

        def receive(reader, pid, deadline, &)
          output = String.new
          began = now
          begin
            collect(reader, output, deadline) { yield now - began if block_given? }
          rescue Interrupt
            @interrupted = true
            Process.kill(:INT, pid)
            collect(reader, output, now + INTERRUPT_GRACE)
          end
          output
        end

        def collect(reader, output, deadline)
          loop do
            yield if block_given?
            raise LabError, "carat: #{name} does not end" if now > deadline

            output << reader.readpartial(CHUNK) if reader.wait_readable(TICK)
          end
        rescue EOFError
          output
        end

        def end_process(pid)
          return unless pid

          Process.kill(:KILL, pid)
          Process.wait(pid)
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
