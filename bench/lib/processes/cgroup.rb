# frozen_string_literal: true

module Bench
  # A memory cgroup, version 1 or 2, below the one of this process, or beside it.
  class Cgroup
    # Files of a version: the limits, the name of anonymous memory in memory.stat, and the kernel's kills.
    Version = Struct.new(:limit, :swap_limit, :anonymous, :events, keyword_init: true)
    ONE = Version.new(limit: "memory.limit_in_bytes", swap_limit: nil, anonymous: "rss", events: "memory.oom_control")
    TWO = Version.new(limit: "memory.max", swap_limit: "memory.swap.max", anonymous: "anon", events: "memory.events")
    MOUNT = "/sys/fs/cgroup"
    REMOVE_SECONDS = 5
    REMOVE_PAUSE_SECONDS = 0.02

    # Yields a Cgroup with this limit and removes it; raises SystemCallError where none can be made.
    def self.make(bytes)
      cgroup = new(bytes)
      yield cgroup
    ensure
      cgroup&.remove
    end

    # One sentence why none can be made here, or nil.
    def self.obstacle
      make(64 << 20) { nil }
    rescue SystemCallError => e
      "no memory cgroup can be made (#{e.message}): run it as root, or in a privileged container"
    end

    # The directory of this process's cgroup. cgroups: the text of /proc/self/cgroup.
    def self.own(cgroups)
      paths = cgroups.lines(chomp: true).to_h { |line| line.split(":", 3).drop(1) }
      controller = paths.keys.find { |controllers| controllers.split(",").include?("memory") }
      controller ? File.join(MOUNT, "memory", paths.fetch(controller)) : File.join(MOUNT, paths.fetch(""))
    end

    # The directory to make one in. In version 2, a cgroup that has processes hands no controller on to those below, as
    # that of a login session: then it is the one above.
    def self.parent(own)
      handed_on = File.join(own, "cgroup.subtree_control")
      return own if own == MOUNT || !File.exist?(handed_on) || File.read(handed_on).split.include?("memory")

      File.dirname(own)
    end

    attr_reader :path

    def initialize(bytes)
      own = self.class.own(File.read("/proc/self/cgroup")).chomp("/")
      @path = File.join(self.class.parent(own), "bench-#{Process.pid}")
      @version = File.exist?(File.join(own, ONE.limit)) ? ONE : TWO
      Dir.mkdir(@path)
      limit(bytes)
    rescue SystemCallError
      remove
      raise
    end

    # Sets the limit, also of a cgroup whose processes run.
    def limit(bytes)
      File.write(File.join(@path, @version.limit), bytes.to_s)
      swap = @version.swap_limit && File.join(@path, @version.swap_limit)
      File.write(swap, "0") if swap && File.exist?(swap)
    end

    # The words that start a command inside.
    def wrap(command)
      ["sh", "-c", 'echo $$ >"$0" && exec "$@"', File.join(@path, "cgroup.procs"), *command]
    end

    # Bytes that do not belong to the page cache.
    def anonymous = read("memory.stat")[/^(?:total_)?#{@version.anonymous} (\d+)$/, 1].to_i

    # How many processes the kernel has killed for the limit.
    def kills = read(@version.events)[/^oom_kill (\d+)$/, 1].to_i

    # Retries while processes that were signaled are still ending.
    def remove
      give_up ||= Bench.now + REMOVE_SECONDS
      Dir.rmdir(@path)
    rescue Errno::EBUSY
      raise if Bench.now > give_up

      sleep(REMOVE_PAUSE_SECONDS)
      retry
    rescue Errno::ENOENT
      # It was never made.
      nil
    end

    private

    def read(name) = File.read(File.join(@path, name))
  end
end
