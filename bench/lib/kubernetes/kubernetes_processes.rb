# frozen_string_literal: true

module Bench
  # The processes of a pod, as the node sees them.
  module KubernetesProcesses
    # Where a JIT compiler puts machine code: what it has written, and the rest of what it has reserved.
    CODE = /\A(?<first>\h+)-(?<last>\h+) (?<rights>r-x|rwx|---)p 0+ 00:00 0\s*(\[anon:.*\])?\s*\z/
    MEBI = 1024 * 1024
    private_constant :CODE, :MEBI

    module_function

    # Sends a signal to the first process of the pod's container.
    def signal(name, pod)
      Process.kill(name, first(pod))
    end

    # The id of the oldest process of the container: the one of the control group that has no parent in it.
    def first(pod)
      pids = all(pod)
      pids.find { |pid| !pids.include?(File.read("/proc/#{pid}/stat")[/\) \S (\d+)/, 1].to_i) }
    end

    # What each process of the pod weighs: its title, and MB (PSS).
    def weights(pod)
      all(pod).filter_map do |pid|
        [title(pid), Number.mb(ProcFs.memory(pid).pss).round(1)]
      rescue Errno::ENOENT, Errno::ESRCH
        nil # it has ended
      end
    end

    # MB of anonymous memory of the pod's first container.
    def anonymous(pod)
      Number.mb(File.read(File.join(cgroup(pod), "memory.stat"))[/^(total_rss|anon) (\d+)/, 2].to_i).round(1)
    end

    # How many MiB each process of the pod that has a JIT compiler may use for machine code, by its title.
    def code(pod)
      found = all(pod).map { |pid| [title(pid), code_bytes(File.read("/proc/#{pid}/maps")) / MEBI] }
      found.reject { |_, mib| mib.zero? }
    end

    # The largest range that a JIT compiler may have reserved. maps: of /proc
    def code_bytes(maps)
      rows = maps.lines.map { |line| CODE.match(line) }
      ranges = rows.slice_when { |row, following| !(row && following && row[:last] == following[:first]) }
      ranges = ranges.select { |range| range.any? { |row| row && row[:rights].end_with?("x") } }
      ranges.map { |range| range.last[:last].hex - range.first[:first].hex }.max.to_i
    end

    def title(pid) = File.binread("/proc/#{pid}/cmdline").tr("\0", " ").strip[0, 40]

    # The ids of all processes of the pod's first container.
    def all(pod) = File.readlines(File.join(cgroup(pod), "cgroup.procs")).map(&:to_i)

    def cgroup(pod)
      id = pod.dig("status", "containerStatuses", 0, "containerID").delete_prefix("containerd://")
      Dir["/sys/fs/cgroup/{memory,}/#{KubernetesFiles::CGROUP}/**/#{id}"].first
    end
  end
end
