# frozen_string_literal: true

module Bench
  # A process and all that descend from it or share its process group.
  class ProcessTree
    # depth: generations below the root; title: the command line.
    Member = Struct.new(:pid, :depth, :title, :memory)

    def initialize(root)
      @root = root
    end

    # CPU seconds that the tree has used so far, ended children included.
    def cpu = depths.keys.sum(&:cpu)

    # Titles by process id.
    def titles
      depths.keys.each_with_object({}) do |stat, found|
        found[stat.pid] = title(stat.pid)
      rescue Errno::ENOENT, Errno::ESRCH
        # The process ended after it was listed.
        next
      end
    end

    # Members with their memory, the root first, then by generation.
    def members
      found = depths.filter_map do |stat, depth|
        Member.new(stat.pid, depth, title(stat.pid), ProcFs.memory(stat.pid))
      rescue Errno::ENOENT, Errno::ESRCH
        # The process ended after it was listed.
        nil
      end
      found.sort_by { |member| [member.depth, member.pid] }
    end

    private

    # A process may have changed its command line to say what it does.
    def title(pid) = File.binread("/proc/#{pid}/cmdline").tr("\0", " ").strip

    # ProcFs::Stat => depth; an orphan of the group counts as a child of the root.
    def depths
      stats = ProcFs.stats
      found = stats.select { |stat| stat.pid == @root }.to_h { |stat| [stat, 0] }
      descend(found, found.keys, stats.group_by(&:parent))
      stats.each { |stat| found[stat] ||= 1 if stat.group == @root }
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
