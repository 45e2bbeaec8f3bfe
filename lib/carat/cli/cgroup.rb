# frozen_string_literal: true

module Carat
  module CLI
    # The limit on memory of the control group that a process is in (cgroups(7)), of version 1 or 2.
    class Cgroup
      ROOT = "/sys/fs/cgroup"
      MEMBERSHIP = "/proc/self/cgroup"
      # Version 1 has no word for "none", but a number of pages that no machine has.
      UNLIMITED = 1 << 60
      UNIFIED = /^0::(.*)$/
      MEMORY = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/

      # `root` is where the groups are mounted, `membership` the text of proc(5)'s cgroup.
      def initialize(root: ROOT, membership: File.read(MEMBERSHIP))
        @root = root
        @membership = membership
      end

      # Returns the lowest limit of the group and those above it in bytes, or nil where there is none.
      def memory_limit
        files.filter_map { |file| bytes(file) }.min
      end

      private

      # In a container, the path may be that of the machine, and the group itself be mounted at the root.
      def files
        return ancestors(@membership[MEMORY, 1], File.join(@root, "memory"), "memory.limit_in_bytes") if first_version?

        ancestors(@membership[UNIFIED, 1] || "/", @root, "memory.max")
      end

      def first_version?
        @membership.match?(MEMORY)
      end

      def ancestors(path, mount, name)
        names = path.split("/").reject(&:empty?)
        (0..names.size).map { |depth| File.join(mount, *names.first(depth), name) }
      end

      def bytes(file)
        number = Integer(File.read(file), 10, exception: false)
        number if number && number < UNLIMITED
      rescue SystemCallError
        nil # A root without a limit has no such file.
      end
    end
  end
end
