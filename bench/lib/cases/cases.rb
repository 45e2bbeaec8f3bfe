# frozen_string_literal: true

module Bench
  # The table of cases.
  module Cases
    ALL = [Load, Tls, Http2Load, StaticFiles, Boot, Idle, Sleepers, EventStreams, Burst, NetHttp, Uploads, Form,
           TinyPost, Decode, SlowReaders, BigResponse, Compression, Weight, BootGarbage, ReforkGarbage, Pages, Refork,
           Restart, Upgrade, LoadStep, Leak, LeakCost, WeighCost, Profile, Chaos, MemoryLimit, ForkTime,
           FirstRequests, Soak, Scale, Allocators, RailsLoad, RedmineLoad, RedmineLimit, Whole256, Overload, Pools,
           MetricsCost, FullCollections, Deploy, JobsMemory]
          .flat_map { |kind| kind::CASES }.freeze

    # The cases with these names, all for nil; raises Failure for an unknown name.
    def self.named(names)
      unknown = names.to_a - ALL.map(&:name)
      raise Failure, "no case #{unknown.first.inspect}; there are #{ALL.map(&:name).join(", ")}" if unknown.any?

      names ? ALL.select { |kase| names.include?(kase.name) } : ALL
    end
  end
end
