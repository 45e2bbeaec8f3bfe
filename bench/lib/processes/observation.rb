# frozen_string_literal: true

module Bench
  # What a server's processes used while a block ran, and the block's value.
  #
  # memory: a MemorySampler; cpu: role => seconds; disk_bytes: written by all processes; seconds: of the wall clock.
  Observation = Struct.new(:spec, :memory, :cpu, :disk_bytes, :seconds, :value, keyword_init: true) do
    # Waits `settle` seconds, then observes the server while the block runs.
    def self.of(spec, server, settle:, &block)
      sleep(settle)
      pids = server.pids_by_role
      memory = MemorySampler.new(pids)
      cpu, disk, started = usage(pids)
      value = memory.watch(&block)
      late_cpu, late_disk, ended = usage(pids)
      new(spec: spec, memory: memory, value: value, seconds: ended - started, disk_bytes: late_disk - disk,
          cpu: late_cpu.merge(cpu) { |_, late, early| late - early })
    end

    def self.usage(pids)
      [pids.transform_values { |list| ProcFs.cpu(list) }, ProcFs.disk_bytes(pids.values.flatten), Bench.now]
    end

    # Growth in MB: the edge's is nil for a server of one process, which counts as the worker.
    def growth
      { edge_mb: spec.alone? ? nil : memory.growth_mb(spec.front_role),
        worker_mb: memory.growth_mb(spec.worker_role), memory_samples: memory.samples }
    end

    def front_cpu = cpu.fetch(spec.front_role)

    def worker_cpu = cpu.fetch(spec.worker_role)
  end
end
