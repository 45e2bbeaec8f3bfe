# frozen_string_literal: true

module Carat
  module Processes
    # Whom the OOM killer kills first: a worker before the mold, and the mold before the edge, without which nothing is
    # left. The scores are added to the score of the server, which systemd may have set.
    class OomScore
      FILE = "/proc/self/oom_score_adj"
      # The kernel's maximum (proc_pid_oom_score_adj(5)).
      MOST = 1000
      private_constant :FILE, :MOST

      # Added to the score of a mold.
      MOLD = 100

      # Added to the score of a worker.
      WORKER = 300

      # The score of the server, read by the first mold; its forks share it.
      def self.server
        @server ||= new
      end

      # Reads the score of this process.
      def initialize(file: FILE)
        @file = file
        @base = Integer(File.read(file), 10)
      rescue SystemCallError, ArgumentError
        @base = 0
      end

      # Sets the score of this process to `more` above that of the server. Lowering it needs CAP_SYS_RESOURCE; without
      # that, or without /proc, nothing changes.
      def raise_by(more)
        File.write(@file, [@base + more, MOST].min.to_s)
      rescue SystemCallError
        nil
      end
    end
  end
end
