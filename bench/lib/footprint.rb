# frozen_string_literal: true

require_relative "series"

module Bench
  # The memory of a server's processes at one moment, in bytes.
  class Footprint
    # members_by_role: see Server#members_by_role.
    def initialize(members_by_role)
      @members = members_by_role
    end

    def pss
      all.sum { |member| member.memory.pss }
    end

    def private_bytes
      all.sum { |member| member.memory.private_bytes }
    end

    # The Pss of the process that holds the clients' connections: the root of the tree.
    def front_pss
      all.min_by(&:depth).memory.pss
    end

    # The median private memory of the processes of the last role.
    def worker_private_bytes
      Series.new(@members.values.last.map { |member| member.memory.private_bytes }).median
    end

    # Role => [number of processes, their median Pss].
    def roles
      @members.transform_values do |members|
        [members.size, Series.new(members.map { |member| member.memory.pss }).median]
      end
    end

    # The medians of several rounds, in the form of roles.
    def self.median_roles(footprints)
      footprints.first.roles.to_h do |role, (number, _)|
        [role, [number, Series.new(footprints.map { |footprint| footprint.roles.fetch(role).last }).median]]
      end
    end

    private

    def all
      @members.values.flatten
    end
  end
end
