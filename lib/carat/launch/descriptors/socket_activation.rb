# frozen_string_literal: true

module Carat
  module Launch
    # The listening sockets that a service manager passes: sd_listen_fds(3).
    class SocketActivation
      # The number of the first descriptor.
      FIRST = 3
      # The most sockets, more than anybody passes. Without this bound, a wrong LISTEN_FDS could become a million
      # addresses.
      MOST = 1024
      private_constant :FIRST, :MOST

      # `environment` is ENV or a Hash. Its sockets count only if LISTEN_PID is `pid`.
      def initialize(environment = ENV, pid: Process.pid)
        @environment = environment
        @pid = pid
      end

      # Returns the addresses to listen on: the sockets that the service manager passed, or `addresses` when there are
      # none. If `addresses` name inherited sockets themselves, they are returned as they are.
      def replace(addresses)
        return addresses if count.zero? || addresses.any? { |address| address.start_with?("fd://") }

        Array.new(count) { |index| "fd://#{FIRST + index}" }
      end

      private

      def count
        return 0 unless @environment["LISTEN_PID"] == @pid.to_s

        Integer(@environment["LISTEN_FDS"], 10, exception: false).to_i.clamp(0, MOST)
      end
    end
  end
end
