# frozen_string_literal: true

module Bench
  # Repeats a task in a thread of its own while a block runs.
  module Repeat
    # Calls the task every so many seconds, or as often as it can, and returns the block's value.
    def self.beside(task, every:)
      finished = Queue.new
      thread = Thread.new { repeat(task, every, finished) }
      yield
    ensure
      finished.close
      thread.join
    end

    def self.repeat(task, every, finished)
      due = Bench.now
      until finished.closed?
        task.call
        due = [due + every, Bench.now].max
        wait = due - Bench.now
        sleep(wait) if wait.positive?
      end
    end
    private_class_method :repeat
  end
end
