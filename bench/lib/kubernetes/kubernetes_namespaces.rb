# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require_relative "../../../test/support/eventually"

module Bench
  # The namespaces of a node, from outside: mounts, network, processes. Its addresses are those of this machine alone.
  class KubernetesNamespaces
    include Support::Eventually

    START_SECONDS = 400
    STOP_SECONDS = 30
    # What a node leaves, and the next one does not need.
    LEFT = %w[ready pid containerd kubelet log].freeze
    private_constant :START_SECONDS, :STOP_SECONDS, :LEFT

    # @param directory [String] of the node's files
    def initialize(directory)
      @directory = directory
    end

    # Starts a program as the first process of new namespaces, and waits until it has written `ready`.
    def start(*program)
      FileUtils.mkdir_p(@directory)
      clean
      pid = spawn("unshare", "--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child", "--mount-proc",
                  RbConfig.ruby, *program, in: File::NULL, %i[out err] => [path("output"), "w"], pgroup: true)
      File.write(path("pid"), pid.to_s)
      Process.detach(pid)
      eventually(message: "the node", within: START_SECONDS) { File.exist?(path("ready")) || ended }
    end

    # Becomes a program inside.
    def enter(*program)
      exec("nsenter", "--target", inside.to_s, "--mount", "--net", "--pid", "--ipc", "--uts", RbConfig.ruby, *program)
    end

    # Ends all processes inside, and removes what they leave.
    def stop
      Process.kill(:KILL, inside) if running?
      eventually(message: "the end of the node", within: STOP_SECONDS) { !running? }
      eventually(message: "empty control groups", within: STOP_SECONDS) { remove_cgroups }
      clean
    end

    def running?
      File.read("/proc/#{outside}/cmdline").start_with?("unshare\0")
    rescue SystemCallError
      false
    end

    private

    # unshare; its child is the first process inside.
    def outside = File.read(path("pid")).to_i

    def inside = File.read("/proc/#{outside}/task/#{outside}/children").to_i

    def ended
      raise Failure, File.readlines(path("output")).last(5).join unless running?
    end

    # The deepest first; those whose processes are still ending stay.
    def remove_cgroups
      tops = Dir["/sys/fs/cgroup/*/#{KubernetesFiles::CGROUP}"]
      tops.flat_map { |top| Dir["#{top}/**/"] }.sort_by { |folder| -folder.length }.each do |folder|
        Dir.rmdir(folder)
      rescue Errno::EBUSY, Errno::ENOTEMPTY
        next
      end
      tops.none? { |top| File.exist?(top) }
    end

    def clean = FileUtils.rm_rf(LEFT.map { |name| path(name) } + Dir[path("ledger-*")])

    def path(name) = File.join(@directory, name)
  end
end
