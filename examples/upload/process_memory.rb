# frozen_string_literal: true

# The memory of Carat's processes, as seen from a worker: its parent is the edge, whose other children are the mold
# and the other workers.
class ProcessMemory
  ROLES = %w[edge mold worker].freeze

  # One process: role, pid and proportional set size in bytes (nil when the kernel does not tell).
  Sample = Struct.new(:role, :pid, :pss_bytes)

  def initialize(edge: Process.ppid)
    @edge = edge
  end

  # @return [Array<Sample>] the edge first, then molds, then workers
  def samples
    all = [@edge, *children].map { |pid| Sample.new(role(pid), pid, pss_bytes(pid)) }
    all.sort_by { |sample| [ROLES.index(sample.role), sample.pid] }
  end

  private

  def children
    Dir.glob("/proc/#{@edge}/task/*/children").flat_map { |path| File.read(path).split.map(&:to_i) }
  end

  def role(pid)
    return "edge" if pid == @edge

    command(pid).include?("mold") ? "mold" : "worker"
  end

  # The title of a process; empty when it has just ended.
  def command(pid)
    File.read("/proc/#{pid}/cmdline")
  rescue Errno::ENOENT, Errno::ESRCH
    ""
  end

  def pss_bytes(pid)
    kilobytes = File.read("/proc/#{pid}/smaps_rollup")[/^Pss:\s+(\d+) kB/, 1]
    kilobytes && (kilobytes.to_i * 1024)
  rescue Errno::ENOENT, Errno::ESRCH, Errno::EACCES
    nil
  end
end
