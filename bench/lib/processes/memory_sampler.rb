# frozen_string_literal: true

module Bench
  # The peak of the PSS of some processes.
  class MemorySampler
    INTERVAL_SECONDS = 0.02

    # Samples after the first.
    attr_reader :samples

    # pids: role => process ids; before: process id => bytes.
    def initialize(pids, before = nil)
      @pids = pids
      @before = before || read
      @peak = @before.dup
      @samples = 0
    end

    # Reads every 20 ms while the block runs; returns the block's value.
    def watch(&) = Repeat.beside(-> { add(read) }, every: INTERVAL_SECONDS, &)

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
