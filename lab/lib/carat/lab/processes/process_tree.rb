# frozen_string_literal: true

require "etc"

module Carat
  module Lab
    # Some processes and all that descend from them: what a server with its workers uses.
    class ProcessTree
      # The kernel's CPUCLOCK_SCHED: all threads of a process, to the nanosecond.
      SCHEDULER_CLOCK = 2
      GONE = [Errno::ENOENT, Errno::ESRCH].freeze

      # Processes rest that use less than this share of a CPU for so many seconds.
      REST_SHARE = 0.1
      REST_SECONDS = 0.05

      # How often to look whether they do: a server may never rest.
      LOOKS = 40
      private_constant :SCHEDULER_CLOCK, :GONE, :REST_SHARE, :REST_SECONDS, :LOOKS

      # `roots` are process ids.
      def initialize(*roots)
        @roots = roots
      end

      # Returns the process ids of now.
      def pids
        found = []
        waiting = @roots.select { |pid| File.directory?("/proc/#{pid}") }
        until waiting.empty?
          found |= waiting
          waiting = waiting.flat_map { |pid| children(pid) } - found
        end
        found
      end

      # Returns the CPU seconds that the processes have used so far, those of ended children included.
      def cpu_seconds
        pids.sum { |pid| running(pid) + ended_children(pid) }
      end

      # Waits until the processes rest, so that what a load leaves to do does not count for the next one.
      def await_rest
        before = cpu_seconds
        LOOKS.times do
          sleep(REST_SECONDS)
          used = cpu_seconds - before
          break if used < REST_SHARE * REST_SECONDS

          before += used
        end
      end

      # Returns the proportional set size in bytes; nil when the kernel does not let this user read it.
      def pss
        pids.sum { |pid| pss_of(pid) }
      rescue Errno::EACCES, Errno::EPERM
        nil
      end

      private

      def children(pid)
        Dir.glob("/proc/#{pid}/task/*/children").flat_map do |path|
          File.read(path).split.map { |text| Integer(text, 10) }
        rescue *GONE
          [] # the thread or the process has ended
        end
      end

      # clock_getcpuclockid(3) without libc.
      def running(pid)
        Process.clock_gettime((~pid << 3) | SCHEDULER_CLOCK)
      rescue Errno::EINVAL, Errno::ESRCH
        0.0 # the process has ended
      end

      # The name in parentheses may hold spaces, so fields are counted after the last parenthesis.
      def ended_children(pid)
        fields = File.read("/proc/#{pid}/stat").rpartition(") ").last.split
        fields[13, 2].sum { |ticks| Integer(ticks, 10) }.fdiv(Etc.sysconf(Etc::SC_CLK_TCK))
      rescue *GONE
        0.0
      end

      def pss_of(pid)
        File.read("/proc/#{pid}/smaps_rollup")[/^Pss: +(\d+) kB$/, 1].to_i * 1024
      rescue *GONE
        0
      end
    end
  end
end
