# frozen_string_literal: true

require "json"

module Carat
  module Launch
    # An upgrade under way, in the process that the old edge has started to take its place (`carat upgrade`).
    class Upgrade
      # The variable in which the old edge names its listeners and the socket between the two edges, as JSON.
      VARIABLE = "CARAT_UPGRADE"
      private_constant :VARIABLE

      # Returns an Upgrade if an old edge has started this process, or nil. `environment` is ENV or a Hash.
      def self.under_way(environment = ENV)
        new(environment) if environment.key?(VARIABLE)
      end

      # `environment` is ENV or a Hash.
      def initialize(environment)
        @left = JSON.parse(environment.fetch(VARIABLE))
      end

      # Returns the numbers of the descriptors in the order that the edge expects: the listeners, then the socket.
      def descriptors
        [*listeners.map(&:last), socket]
      end

      # Returns the addresses to listen on: the sockets that a service manager passed to the old edge, or `addresses`
      # when there are none. If `addresses` name inherited sockets themselves, they are returned as they are.
      def replace(addresses)
        passed = listeners.map(&:first).select { |address| address.start_with?("fd://") }
        return addresses if passed.empty? || addresses.any? { |address| address.start_with?("fd://") }

        passed
      end

      # Tells the old edge why this process cannot take over.
      def failed(message)
        IO.for_fd(socket, "w", autoclose: false).syswrite("#{message.tr("\n", " ")}\n")
      rescue SystemCallError, ArgumentError
        nil # the old edge is gone, or the number is not a descriptor's
      end

      private

      def socket
        @left.fetch("socket")
      end

      def listeners
        @left.fetch("listeners")
      end
    end
  end
end
