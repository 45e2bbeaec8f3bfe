# frozen_string_literal: true

require_relative "growth"
require_relative "memory"

module Bench
  # Reads the PSS of some processes every 20 ms in a thread of its own.
  class Sampler
    INTERVAL_SECONDS = 0.02

    # Watches the processes while the block runs; gives their Growth and the block's value.
    # pids: role => process ids.
    def self.watch(pids)
      sampler = new(pids)
      value = yield
      [sampler.finish, value]
    ensure
      sampler&.finish
    end

    def initialize(pids)
      @growth = Growth.new(pids, read(pids))
      @finished = Queue.new
      @thread = Thread.new { sample_until_finished(pids) }
    end

    def finish
      @finished.close
      @thread.join
      @growth
    end

    private

    def sample_until_finished(pids)
      due = now
      until @finished.closed?
        @growth.add(read(pids))
        due = [due + INTERVAL_SECONDS, now].max
        sleep(due - now) if due > now
      end
    end

    # Process id => bytes; a process that has ended is left out.
    def read(pids)
      pids.values.flatten.each_with_object({}) do |pid, found|
        found[pid] = Memory.of(pid).pss
      rescue Errno::ENOENT, Errno::ESRCH
        next
      end
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
