# frozen_string_literal: true

require "json"

module Carat
  module Launch
    # The old edge that has started this process to take over from it: `carat upgrade`.
    class Upgrade
      # The number of the socket to the old edge.
      DESCRIPTOR = "CARAT_UPGRADE_FD"
      # How many sockets a service manager passed to the old edge.
      SOCKETS = "CARAT_UPGRADE_SOCKETS"
      private_constant :DESCRIPTOR, :SOCKETS

      # Returns an Upgrade if an old edge has started this process, or nil. `environment` is ENV or a Hash.
      def self.under_way(environment = ENV)
        new(environment) if environment.key?(DESCRIPTOR)
      end

      # `environment` is ENV or a Hash.
      def initialize(environment)
        @environment = environment
      end

      # Returns the number of the socket to the old edge.
      def descriptor
        Integer(@environment.fetch(DESCRIPTOR), 10)
      end

      # Returns the addresses to listen on instead of `addresses`: the sockets that a service manager passed to the old
      # edge. Addresses that name inherited sockets stay as they are.
      def replace(addresses)
        count = Integer(@environment.fetch(SOCKETS, "0"), 10)
        return addresses if count.zero? || addresses.any? { |address| address.start_with?("fd://") }

        Array.new(count) { |index| "fd://#{index}" }
      end

      # Tells the old edge why this process cannot take over.
      def failed(message)
        IO.for_fd(descriptor, "w", autoclose: false).syswrite("#{JSON.generate(failed: message)}\n")
      rescue SystemCallError, ArgumentError
        nil # the old edge is gone, or the number is not that of a descriptor
      end
    end
  end
end
