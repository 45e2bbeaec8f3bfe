# frozen_string_literal: true

module Bench
  # The processes of a pod, as the node sees them.
  module KubernetesProcesses
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
      all(pod).map do |pid|
        title = File.binread("/proc/#{pid}/cmdline").tr("\0", " ").strip
        [title[0, 40], Number.mb(ProcFs.memory(pid).pss).round(1)]
      end
    end

    # The ids of all processes of the pod's first container.
    def all(pod)
      id = pod.dig("status", "containerStatuses", 0, "containerID").delete_prefix("containerd://")
      Dir["/sys/fs/cgroup/{memory,}/#{KubernetesFiles::CGROUP}/**/#{id}/cgroup.procs"].first.then do |file|
        File.readlines(file).map(&:to_i)
      end
    end
  end
end
