# frozen_string_literal: true

module Bench
  # Reads the PSS of processes every 20 ms in a thread of its own.
  class MemorySampler
    INTERVAL_SECONDS = 0.02

    # Samples after the first.
    attr_reader :samples

    # Watches the processes while the block runs; returns the sampler and the block's value. pids: role => process ids.
    def self.watch(pids)
      sampler = new(pids).start
      value = yield
      [sampler.stop, value]
    ensure
      sampler&.stop
    end

    def initialize(pids, before = nil)
      @pids = pids
      @before = before || read
      @peak = @before.dup
      @samples = 0
    end

    def start
      @finished = Queue.new
      @thread = Thread.new { sample_until_finished }
      self
    end

    def stop
      @finished.close
      @thread.join
      self
    end

    # sample: process id => bytes.
    def add(sample)
      @samples += 1
      sample.each { |pid, bytes| @peak[pid] = [@peak.fetch(pid, bytes), bytes].max }
      self
    end

    # MB by which the process of this role grew at its peak, the most of several; nil when there is none.
    def growth_mb(role)
      bytes = @pids.fetch(role, []).map { |pid| @peak.fetch(pid, 0) - @before.fetch(pid, 0) }.max
      bytes && Number.mb(bytes)
    end

    private

    def sample_until_finished
      due = Bench.now
      until @finished.closed?
        add(read)
        due = [due + INTERVAL_SECONDS, Bench.now].max
        wait = due - Bench.now
        sleep(wait) if wait.positive?
      end
    end

    # Process id => bytes, without processes that have ended.
    def read
      @pids.values.flatten.each_with_object({}) do |pid, found|
        found[pid] = ProcFs.memory(pid).pss
      rescue Errno::ENOENT, Errno::ESRCH
        next
      end
    end
  end
end
