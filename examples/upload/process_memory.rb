# frozen_string_literal: true

# The memory of Carat's processes, seen from a worker: its parent is the edge, and the edge's other children are the
# mold and the other workers.
class ProcessMemory
  # One process: name, pid, and proportional set size in bytes (nil when the kernel does not reveal it).
  Sample = Struct.new(:name, :pid, :pss_bytes)

  def initialize(edge: Process.ppid)
    @edge = edge
  end

  # @return [Array<Sample>] the edge, the mold, and the workers by number
  def samples
    all = [@edge, *children].map { |pid| Sample.new(name(pid), pid, pss_bytes(pid)) }
    all.sort_by { |sample| [sample.name[/\d+/].to_i, sample.name] }
  end

  private

  def children
    Dir.glob("/proc/#{@edge}/task/*/children").flat_map { |path| File.read(path).split.map(&:to_i) }
  end

  # The children of the edge have titles such as `carat: worker=2 gen=1` and `carat: mold gen=1`.
  def name(pid)
    return "edge" if pid == @edge

    number = title(pid)[/worker=(\d+)/, 1]
    number ? "worker #{number}" : "mold"
  end

  # The title of a process; empty when the process has just exited.
  def title(pid)
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
