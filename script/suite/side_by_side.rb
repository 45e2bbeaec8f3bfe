# frozen_string_literal: true

require_relative "tally"

module Suite
  # Steps that run at the same time, a few at once. Their output is mixed; each counts its own.
  class SideBySide
    # @param steps [Array<Step>] at least one; they begin in this order
    # @param runners [Integer] how many run at once
    def initialize(steps, runners)
      @steps = steps
      @runners = runners
    end

    # Runs the steps and returns the sum of their counts.
    # @raise [SignalException] when the suite is interrupted; all commands have ended then
    def run(out: $stdout)
      queue = @steps.each_with_object(Queue.new) { |step, all| all << step }.close
      threads = Array.new(@runners) { Thread.new { run_each(queue, out) } }
      threads.each { |thread| thread.report_on_exception = false }
      threads.each(&:join)
      tally
    rescue SignalException => e
      threads.each { |thread| thread.raise(e) if thread.alive? }
      threads.each { |thread| wait_for_end(thread) }
      raise
    end

    # The sum of the counts of all steps.
    def tally
      @steps.map(&:tally).reduce(:+)
    end

    # How long the tests of each file took; see RubyTests.
    def seconds
      @steps.map(&:seconds).reduce(:merge)
    end

    # The steps among them that failed.
    def failed
      @steps.flat_map(&:failed)
    end

    private

    def run_each(queue, out)
      while (step = queue.pop)
        step.run(out: out)
      end
    end

    def wait_for_end(thread)
      thread.join
    rescue SignalException
      nil # It is the one that was passed on.
    end
  end
end
