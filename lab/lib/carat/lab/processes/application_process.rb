# frozen_string_literal: true

require "io/wait"
require "json"
require "carat/launch/surroundings/mold_environment"
require "carat/launch/surroundings/preload"
require "carat/launch/surroundings/ruby_program"
require "carat/native_path"
require_relative "../interrupts"
require_relative "../lab_error"
require_relative "../library"

module Carat
  module Lab
    # A new process that loads the application and measures it, with the allocator and the garbage collection of a mold.
    # Its program is a class with a method `start`, which receives the words and a Report through which it answers.
    class ApplicationProcess
      # The program of that process.
      PROGRAM = "module Carat; Lab::ProcessReport.open(ARGV) { |report, *words| Lab::%s.start(report, *words) }; end"

      # The descriptor that receives the result.
      RESULT_FD = 3

      # Seconds between two looks at the clock.
      TICK = 0.2
      private_constant :PROGRAM, :RESULT_FD, :TICK

      # `configuration` is a Configuration, `library` the program's file below `carat/lab`, `name` that of its class in
      # Lab, `words` are Strings for it, and `progress` is a Progress.
      def initialize(configuration, library, name, words, progress)
        @configuration = configuration
        @library = library
        @name = name
        @words = words
        @progress = progress
      end

      # Returns the program's result, parsed. What the application prints goes to standard error. An Interrupt ends the
      # measurement, and the result says what is known so far; a second one ends everything. Raises LabError.
      def run
        text = Interrupts.raising { measure }
        raise LabError, "carat: the application ended the process while it booted (#{@status.inspect})" unless text

        result = JSON.parse(text)
        raise LabError, result.fetch("error") if result.key?("error")

        result
      end

      # Raises LabError unless the allocator of the process counts each byte.
      def require_counters
        return if Launch::Preload.new(@configuration, ENV).used?

        raise LabError, "carat: only Carat's allocator counts each byte: leave `allocator` at \"jemalloc\", " \
                        "preload no other one, and see `carat doctor`"
      end

      private

      # The process has a group of its own, so that a terminal interrupts only this one.
      def measure
        reader, writer = IO.pipe
        @pid = Process.spawn(environment, *command, RESULT_FD => writer, in: File::NULL, out: :err, pgroup: true)
        writer.close
        @progress.step("booting the application")
        receive(reader)
      rescue Interrupt
        signal(:KILL)
        raise LabError, "carat: interrupted"
      ensure
        [reader, writer].each(&:close)
        @progress.clear
        _, @status = Process.wait2(@pid) if @pid
      end

      # Returns the result, nil if there is none.
      def receive(reader)
        interrupted = false
        begin
          loop { line = next_line(reader) and (follow(line) or return line) }
        rescue EOFError
          nil
        rescue Interrupt
          raise if interrupted

          interrupted = true
          signal(:INT)
          retry
        end
      end

      # Returns nil when the process has been silent for a while.
      def next_line(reader)
        return reader.readline if reader.wait_readable(TICK)

        @progress.tick unless @measured
      end

      # Shows what the process is doing. Returns false for the result.
      def follow(line)
        kind, _, text = line.chomp.partition(" ")
        case kind
        when "step" then @progress.step(text)
        when "share" then @progress.advance(Float(text))
        else return false
        end
        @measured = true
      end

      def signal(name)
        Process.kill(name, @pid)
      rescue Errno::ESRCH
        nil # it has ended
      end

      def environment
        Launch::MoldEnvironment.new(@configuration).to_h
      end

      def command
        [*Launch::RubyProgram.command, *Library.flags, "-r", "carat/lab/processes/process_report",
         "-r", "carat/lab/#{@library}",
         "-e", format(PROGRAM, @name), "--", RESULT_FD.to_s, *@words]
      end
    end
  end
end
