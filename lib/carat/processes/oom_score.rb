# frozen_string_literal: true

module Carat
  module Processes
    # Whom the OOM killer takes when memory is out: a worker before the mold, and the mold before the edge, without
    # which nothing is left. What was set for the whole server, by systemd for example, stays what it begins from.
    class OomScore
      FILE = "/proc/self/oom_score_adj"
      private_constant :FILE
      # The kernel's most (proc_pid_oom_score_adj(5)).
      MOST = 1000
      MOLD = 100
      WORKER = 300

      # That of the server, as the first mold has found it; its forks share it.
      def self.server
        @server ||= new
      end

      # Remembers what this process begins from.
      def initialize(file: FILE)
        @file = file
        @base = Integer(File.read(file), 10)
      rescue SystemCallError, ArgumentError
        @base = 0
      end

      # Makes this process one that is taken `more` willingly than it was at the beginning. To lower what was raised
      # needs CAP_SYS_RESOURCE; where that is missing, or /proc, all stays as it is.
      def raise_by(more)
        File.write(@file, [@base + more, MOST].min.to_s)
      rescue SystemCallError
        nil
      end
    end
  end
end
