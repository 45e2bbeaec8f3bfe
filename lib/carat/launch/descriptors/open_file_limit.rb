# frozen_string_literal: true

module Carat
  module Launch
    # RLIMIT_NOFILE, the number of files and sockets that a process may open. Many systems start services with a soft
    # limit of 1024, because programs that use select(2) need it, and expect other programs to raise it to the hard
    # limit.
    module OpenFileLimit
      # The highest limit that is set. Some containers allow a billion, and then programs that close every possible
      # descriptor take minutes.
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
