# frozen_string_literal: true

module Bench
  # The memory of a server's processes at one moment, in bytes.
  class Footprint
    # Of a Server, after `settle` seconds of quiet.
    def self.of(server, settle: 0)
      sleep(settle)
      new(server.members_by_role)
    end

    # "edge 2.1, worker 2x 9.4": the medians of several rounds. rounds: list of what `roles` returns.
    def self.describe(rounds)
      rounds.first.map do |role, (count, _)|
        mb = Statistics.median(rounds.filter_map { |round| round[role]&.last })
        "#{role} #{"#{count}x " if count > 1}#{Number.decimals(mb, 1)}"
      end.join(", ")
    end

    # members_by_role: see Server#members_by_role.
    def initialize(members_by_role)
      @members = members_by_role
    end

    def pss = all.sum { |member| member.memory.pss }

    def pss_mb = Number.mb(pss)

    def private_mb = Number.mb(all.sum { |member| member.memory.private_bytes })

    # Of the process that holds the clients' connections: the root of the tree.
    def front_pss = all.min_by(&:depth).memory.pss

    # The median private memory of the processes of the last role.
    def worker_private_mb
      Number.mb(Statistics.median(@members.values.last.map { |member| member.memory.private_bytes }))
    end

    def count(role) = @members.fetch(role, []).size

    # Role => [number of processes, their median PSS in MB].
    def roles
      @members.transform_values do |members|
        [members.size, Number.mb(Statistics.median(members.map { |member| member.memory.pss }))]
      end
    end

    private

    def all = @members.values.flatten
  end
end
