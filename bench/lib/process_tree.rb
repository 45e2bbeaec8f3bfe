# frozen_string_literal: true

require_relative "memory"
require_relative "process_stat"

module Bench
  # A process and all that descend from it or share its process group.
  class ProcessTree
    # One process of a tree: how many generations below the root, its command line, and its memory.
    Member = Struct.new(:pid, :depth, :title, :memory)

    def initialize(root)
      @root = root
    end

    # CPU seconds that the tree has used so far, ended children included.
    def cpu
      depths.keys.sum(&:cpu)
    end

    # Members with their memory, the root first, then by generation.
    def members
      found = depths.filter_map do |stat, depth|
        Member.new(stat.pid, depth, title(stat.pid), Memory.of(stat.pid))
      rescue Errno::ENOENT, Errno::ESRCH
        # Ended since it was listed.
        nil
      end
      found.sort_by { |member| [member.depth, member.pid] }
    end

    private

    # The command line, which a process may have changed to say what it does.
    def title(pid)
      File.binread("/proc/#{pid}/cmdline").tr("\0", " ").strip
    end

    # Each ProcessStat of the tree with its depth; an orphan of the group counts as a child of the root.
    def depths
      stats = ProcessStat.all
      found = stats.select { |stat| stat.pid == @root }.to_h { |stat| [stat, 0] }
      children = stats.group_by(&:parent)
      descend(found, found.keys, children)
      orphans = stats.select { |stat| stat.group == @root && !found.key?(stat) }
      orphans.each { |stat| found[stat] = 1 }
      found
    end

    def descend(found, parents, children)
      until parents.empty?
        parents = parents.flat_map do |parent|
          children.fetch(parent.pid, []).each { |child| found[child] = found[parent] + 1 }
        end
      end
    end
  end
end
