# frozen_string_literal: true

require "io/wait"
require_relative "failures"
require_relative "tally"

module Suite
  # One command of the suite. Its output is shown as it comes, and read for the counts.
  class Step
    DEADLINE_SECONDS = 20 * 60
    READ_BYTES = 64 * 1024

    attr_reader :name, :tally

    # @param reader [Symbol] how its output is counted: :check, :cargo or :minitest
    def initialize(name, *command, reader: :check, within: DEADLINE_SECONDS)
      @name = name
      @command = command
      @reader = reader
      @within = within
      @output = +""
    end

    # Runs the command and returns the Tally; a command that cannot run or gives no counts has failed.
    def run(out: $stdout)
      out.puts "", "== #{name}"
      finished = execute(out)
      counted = Tally.public_send(:"from_#{@reader}", output)
      @tally = finished && counted ? counted : (counted || Tally.zero).failing
    end

    def failed?
      tally.failed.positive?
    end

    # What its output says of what failed, in paragraphs.
    def failures
      failed? ? Failures.public_send(:"from_#{@reader}", output) : []
    end

    private

    def output
      @output.scrub
    end

    # Whether the command ended in time and well.
    def execute(out)
      IO.popen(@command, err: %i[child out], pgroup: true) do |pipe|
        copy(pipe, out) || stop(pipe.pid, out)
      end
      Process.last_status.success?
    rescue Errno::ENOENT => e
      out.puts "cannot run: #{e.message}"
      false
    end

    # Copies until the end; false when time is up.
    def copy(pipe, out)
      deadline = now + @within
      loop do
        return false unless pipe.wait_readable([deadline - now, 0].max)

        piece = pipe.readpartial(READ_BYTES)
        @output << piece
        out.write(piece)
        out.flush
      end
    rescue EOFError
      true
    end

    def stop(pid, out)
      out.puts "stopped: not finished after #{@within} s"
      Process.kill(:KILL, -pid)
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
