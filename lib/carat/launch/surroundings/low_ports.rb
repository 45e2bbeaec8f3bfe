# frozen_string_literal: true

module Carat
  module Launch
    # The ports that a user without privileges may not listen on.
    class LowPorts
      FIRST_FREE = "/proc/sys/net/ipv4/ip_unprivileged_port_start"
      STATUS = "/proc/self/status"
      # The number of CAP_NET_BIND_SERVICE (capabilities(7)).
      CAPABILITY = 10
      ADDRESS = %r{\A(?!unix:|fd:)\w+://.+:(\d+)(?:\?|\z)}
      private_constant :FIRST_FREE, :STATUS, :CAPABILITY, :ADDRESS

      # `addresses` are the values of the option `bind`; `status` and `first_free` are paths.
      def initialize(addresses, status: STATUS, first_free: FIRST_FREE)
        @addresses = addresses
        @status = status
        @first_free = first_free
      end

      # Returns a sentence about the first address on which this process may not listen, and what to do; nil if there is
      # none.
      def obstacle
        limit = Integer(File.read(@first_free), 10)
        address = @addresses.find { |it| it[ADDRESS, 1]&.to_i&.between?(1, limit - 1) }
        return if address.nil? || allowed?

        "#{address[/\A[^?]+/]}: this user may not listen on a port below #{limit}: give the service " \
          "AmbientCapabilities=CAP_NET_BIND_SERVICE, or let systemd pass the socket (docs/privileges.md)"
      rescue SystemCallError
        nil # the limit is unknown; the edge reports an error when it listens
      end

      private

      def allowed?
        File.read(@status)[/^CapEff:\s*(\h+)/, 1].to_s.hex[CAPABILITY] == 1
      end
    end
  end
end
