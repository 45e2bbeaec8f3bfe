# frozen_string_literal: true

require "etc"

module Bench
  # One line of /proc/PID/stat (proc_pid_stat(5)), CPU in seconds.
  ProcessStat = Struct.new(:pid, :parent, :group, :cpu, keyword_init: true) do
    # Every process of the machine.
    def self.all
      Dir.glob("/proc/[0-9]*/stat").filter_map do |path|
        parse(File.read(path))
      rescue Errno::ENOENT, Errno::ESRCH
        # The process ended between the listing and the reading.
        nil
      end
    end

    # The name in parentheses may hold spaces and parentheses, so fields are counted after the last one.
    def self.parse(line)
      fields = line[(line.rindex(")") + 2)..].split
      # utime, stime, and those of the children that were waited for.
      ticks = fields[11, 4].sum(&:to_i)
      new(pid: line.to_i, parent: fields[1].to_i, group: fields[2].to_i,
          cpu: ticks.fdiv(Etc.sysconf(Etc::SC_CLK_TCK)))
    end
  end
end
