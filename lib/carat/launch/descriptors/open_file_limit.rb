# frozen_string_literal: true

module Carat
  module Launch
    # RLIMIT_NOFILE, the number of files and sockets that a process may open. Many systems start services with a soft
    # limit of 1024, for programs that use select(2), and expect others to raise it to the hard limit.
    module OpenFileLimit
      # Some containers allow a billion, and programs that close every descriptor up to the limit then take minutes.
      MOST = 1_048_576

      module_function

      # Returns the limit that `raise_soft` sets.
      def reachable
        soft, hard = Process.getrlimit(:NOFILE)
        [soft, [hard, MOST].min].max
      end

      # Raises the soft limit of this process, of the program that it executes, and of their children.
      def raise_soft
        soft, hard = Process.getrlimit(:NOFILE)
        Process.setrlimit(:NOFILE, reachable, hard) if reachable > soft
      end
    end
  end
end
