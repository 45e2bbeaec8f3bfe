# frozen_string_literal: true

module Carat
  module Launch
    # The listening sockets that a service manager passes: sd_listen_fds(3).
    class SocketActivation
      # The number of the first descriptor.
      FIRST = 3
      # More sockets than anybody passes; a wrong count must not become a million addresses.
      MOST = 1024
      private_constant :FIRST, :MOST

      # `environment` is ENV or a Hash; the sockets are for the process `pid` only.
      def initialize(environment = ENV, pid: Process.pid)
        @environment = environment
        @pid = pid
      end

      # Returns the addresses to listen on instead of `addresses`: the sockets that were passed. Addresses that name
      # inherited sockets stay as they are.
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
