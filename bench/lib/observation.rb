# frozen_string_literal: true

require_relative "process_clock"
require_relative "process_io"
require_relative "sampler"

module Bench
  # What a server's processes took while the block ran, and the block's value. growth: a Growth; cpu: role =>
  # seconds; io: a ProcessIo of all processes; seconds: by the wall.
  Observation = Struct.new(:growth, :cpu, :io, :seconds, :value, keyword_init: true) do
    # Waits `settle` seconds, then observes the server while the block runs.
    def self.of(server, settle:)
      sleep(settle)
      pids = server.pids_by_role
      before = [cpu(pids), ProcessIo.of(pids.values.flatten)]
      begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      growth, value = Sampler.watch(pids) { yield }
      seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun
      after = [cpu(pids), ProcessIo.of(pids.values.flatten)]
      new(growth: growth, cpu: after.first.merge(before.first) { |_, late, early| late - early },
          io: after.last - before.last, seconds: seconds, value: value)
    end

    def self.cpu(pids)
      pids.transform_values { |list| list.sum { |pid| ProcessClock.cpu(pid) } }
    end
  end
end
