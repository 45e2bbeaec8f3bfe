# frozen_string_literal: true

module Bench
  # How much memory processes took at their peak beyond what they had before.
  class Growth
    # Samples after the first.
    attr_reader :samples

    # pids: role => process ids; before: process id => bytes.
    def initialize(pids, before)
      @pids = pids
      @before = before
      @peak = before.dup
      @samples = 0
    end

    # sample: process id => bytes, of the processes that are still there.
    def add(sample)
      @samples += 1
      sample.each { |pid, bytes| @peak[pid] = [@peak.fetch(pid, bytes), bytes].max }
      self
    end

    # Bytes by which the process of this role grew, the most of several; nil when there is none.
    def of(role)
      pids = @pids.fetch(role, [])
      pids.map { |pid| @peak.fetch(pid, 0) - @before.fetch(pid, 0) }.max
    end
  end
end
