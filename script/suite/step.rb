# frozen_string_literal: true

require "io/wait"
require_relative "failures"
require_relative "tally"

module Suite
  # One command of the suite. Prints its output as it comes, and counts the tests in it.
  class Step
    DEADLINE_SECONDS = 35 * 60
    SILENCE_SECONDS = 90
    END_SECONDS = 15
    READ_BYTES = 64 * 1024

    attr_reader :name, :tally

    # @param reader [Symbol] how its output is counted: :check or :cargo
    # @param within [Numeric] how many seconds it may take
    # @param silence [Numeric] after how many seconds without output the step says that it still runs
    def initialize(name, *command, reader: :check, within: DEADLINE_SECONDS, silence: SILENCE_SECONDS)
      @name = name
      @command = command
      @reader = reader
      @within = within
      @silence = silence
      @output = +""
    end

    # Runs the command and returns the Tally. A command that cannot run or prints no counts has failed.
    # @raise [SignalException] when the suite is interrupted; the command has ended then
    def run(out: $stdout)
      out.puts "", "== #{name}"
      @started = now
      finished = execute(out)
      out.puts "(#{name}: #{(now - @started).to_i} s)"
      counted = count
      @tally = finished && counted ? counted : (counted || Tally.zero).failing
    end

    # This step if it failed, as a list.
    def failed
      tally.failed.positive? ? [self] : []
    end

    # Only Ruby tests say how long each file took.
    def seconds
      {}
    end

    # Only tests are repeated.
    # @return [Array<String>] see RubyTests
    def repeat(**)
      []
    end

    # Paragraphs about failed tests, or the end of its output when it names none.
    def failures
      return [] if failed.empty?

      what_failed.then { |paragraphs| paragraphs.empty? ? [Failures.end_of(output)] : paragraphs }
    end

    private

    # The Tally of its tests; nil when it tells of none.
    def count
      Tally.public_send(:"from_#{@reader}", output)
    end

    # A paragraph for each test that failed.
    def what_failed
      Failures.public_send(:"from_#{@reader}", output)
    end

    def output
      @output.scrub
    end

    # Whether the command ended in time and with status 0.
    def execute(out)
      IO.popen(@command, err: %i[child out], pgroup: true) do |pipe|
        copy(pipe, out, @within) || stop(pipe.pid, out)
      rescue SignalException
        interrupt(pipe, out)
        raise
      end
      @status = Process.last_status
      @status.success?
    rescue Errno::ENOENT => e
      out.puts "cannot run: #{e.message}"
      false
    end

    # Copies the output until its end; returns false when the time is up.
    def copy(pipe, out, seconds)
      deadline = now + seconds
      loop do
        left = deadline - now
        return false unless left.positive?

        pipe.wait_readable([left, @silence].min) ? copy_piece(pipe, out) : say_that_it_runs(out)
      end
    rescue EOFError
      true
    end

    def copy_piece(pipe, out)
      piece = pipe.readpartial(READ_BYTES)
      @output << piece
      out.write(piece)
      out.flush
    end

    def say_that_it_runs(out)
      out.puts if @output.match?(/[^\n]\z/)
      out.puts "(#{name}: still running after #{(now - @started).to_i} s)"
    end

    # Ends the command as Ctrl-C in its own terminal would, so that the tests can stop their servers.
    def interrupt(pipe, out)
      signal(:INT, pipe.pid)
      copy(pipe, out, END_SECONDS) || signal(:KILL, pipe.pid)
    end

    def stop(pid, out)
      out.puts "stopped: not finished after #{@within} s"
      signal(:KILL, pid)
    end

    # Signals the whole process group of the command.
    def signal(name, pid)
      Process.kill(name, -pid)
    rescue Errno::ESRCH
      nil # It has ended by itself.
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
