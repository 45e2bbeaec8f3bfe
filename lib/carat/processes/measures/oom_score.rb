# frozen_string_literal: true

module Carat
  module Processes
    # The order in which the OOM killer chooses processes: workers before the mold, and the mold before the edge,
    # without which no process remains. The scores here are added to the server's own score, which systemd may have set.
    class OomScore
      FILE = "/proc/self/oom_score_adj"
      # The kernel's maximum score (proc_pid_oom_score_adj(5)).
      MOST = 1000
      private_constant :FILE, :MOST

      # The number that is added to the score for a mold.
      MOLD = 100

      # The number that is added to the score for a worker.
      WORKER = 300

      # The score of the server. The first mold reads it, and forked processes inherit it.
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

      # Sets the score of this process to `more` above the server's score. Lowering a score needs CAP_SYS_RESOURCE.
      # Without that capability, or without /proc, nothing changes.
      def raise_by(more)
        File.write(@file, [@base + more, MOST].min.to_s)
      rescue SystemCallError
        nil
      end
    end
  end
end
