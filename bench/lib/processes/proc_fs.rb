# frozen_string_literal: true

require "etc"

module Bench
  # What /proc says about processes. Raises Errno::ENOENT or Errno::ESRCH when a process has gone.
  module ProcFs
    # Bytes.
    Memory = Struct.new(:pss, :private_bytes)
    # CPU in seconds, with the children that the process has waited for.
    Stat = Struct.new(:pid, :parent, :group, :cpu, keyword_init: true)

    # The kernel's CPUCLOCK_SCHED.
    SCHEDULER_CLOCK = 2

    def self.memory(pid) = parse_memory(File.read("/proc/#{pid}/smaps_rollup"))

    def self.parse_memory(text)
      kilobytes = text.scan(/^(\w+):\s+(\d+) kB$/).to_h.transform_values(&:to_i)
      owned = kilobytes.values_at("Private_Clean", "Private_Dirty", "Private_Hugetlb")
      Memory.new(kilobytes.fetch("Pss") * 1024, owned.compact.sum * 1024)
    end

    def self.descriptors(pid) = Dir.children("/proc/#{pid}/fd").size

    def self.threads(pid) = Dir.children("/proc/#{pid}/task").size

    # CPU seconds of all threads of these processes, ended ones included: clock_getcpuclockid(3) without libc, exact to
    # the nanosecond. Raises Errno::EINVAL when one has gone.
    def self.cpu(pids) = pids.sum { |pid| Process.clock_gettime((~pid << 3) | SCHEDULER_CLOCK) }

    # Bytes that these processes have written into pages of files on a disk.
    def self.disk_bytes(pids) = pids.sum { |pid| File.read("/proc/#{pid}/io")[/^write_bytes: (\d+)/, 1].to_i }

    # A Stat for every process of the machine.
    def self.stats
      Dir.glob("/proc/[0-9]*/stat").filter_map do |path|
        parse_stat(File.read(path))
      rescue Errno::ENOENT, Errno::ESRCH
        # The process ended after it was listed.
        nil
      end
    end

    # The name in parentheses may hold spaces and parentheses, so fields are counted after the last one.
    def self.parse_stat(line)
      fields = line[(line.rindex(")") + 2)..].split
      ticks = fields[11, 4].sum(&:to_i)
      Stat.new(pid: line.to_i, parent: fields[1].to_i, group: fields[2].to_i,
               cpu: ticks.fdiv(Etc.sysconf(Etc::SC_CLK_TCK)))
    end
  end
end
