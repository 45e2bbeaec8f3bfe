# frozen_string_literal: true

module Support
  # Processes as /proc shows them.
  module ProcessTree
    GONE = [Errno::ENOENT, Errno::ESRCH, Errno::EACCES].freeze

    module_function

    # Pids of the direct children of a process; empty when it is gone.
    def children(pid)
      Dir.glob("/proc/#{pid}/task/*/children").flat_map { |path| File.read(path).split.map(&:to_i) }
    rescue *GONE
      []
    end

    # Pids of all processes below a process.
    def descendants(pid)
      children(pid).flat_map { |child| [child, *descendants(child)] }
    end

    # Pids of all processes whose working directory this is, orphans and those of other mount namespaces included.
    def inside(directory)
      Dir.glob("/proc/[0-9]*/cwd").select { |link| File.identical?(link, directory) }.map { |link| link[/\d+/].to_i }
    end

    # Pids of the edges whose working directory this is: an upgrade has two for a while.
    def edges(directory)
      inside(directory).select { |pid| title(pid).start_with?("carat-edge") }
    end

    # The command line, or the title that the process gave itself; empty when the process is gone.
    def title(pid)
      File.read("/proc/#{pid}/cmdline").tr("\0", " ").strip
    rescue *GONE
      ""
    end

    # The sockets that a process has open, as `socket:[inode]`.
    def sockets(pid)
      Dir.glob("/proc/#{pid}/fd/*").filter_map { |link| target(link) }.grep(/\Asocket:/)
    end

    # The PSS of a process in KiB: its private pages, and its share of the shared ones.
    def pss(pid)
      File.read("/proc/#{pid}/smaps_rollup")[/^Pss:\s+(\d+)/, 1].to_i
    end

    # The private memory of a process in KiB; 0 when the process is gone.
    def unshared(pid)
      File.read("/proc/#{pid}/smaps_rollup").scan(/^Private_(?:Clean|Dirty):\s+(\d+)/).flatten.sum(&:to_i)
    rescue *GONE
      0
    end

    # The sizes of the unlinked files that a process has open.
    def unlinked(pid)
      links = Dir.glob("/proc/#{pid}/fd/*").select { |link| target(link)&.match?(%r{\A/(?!memfd:).* \(deleted\)\z}) }
      links.filter_map { |link| size(link) }
    end

    # Whether the process exists and is not a zombie.
    def alive?(pid)
      !%w[Z X].include?(File.read("/proc/#{pid}/stat").rpartition(") ").last[0])
    rescue *GONE
      false
    end

    # The number of a process's file descriptors; 0 when the process is gone.
    def descriptors(pid)
      Dir.children("/proc/#{pid}/fd").size
    rescue *GONE
      0
    end

    # Sends SIGKILL to each that still exists.
    def kill(pids)
      pids.each do |pid|
        Process.kill(:KILL, pid)
      rescue Errno::ESRCH
        next # It has ended already.
      end
    end

    def size(path)
      File.size(path)
    rescue *GONE
      nil
    end

    def target(link)
      File.readlink(link)
    rescue *GONE
      nil
    end
  end
end
