# frozen_string_literal: true

module Carat
  module Launch
    # The ports that a user without privileges may not listen on.
    class LowPorts
      FIRST_FREE = "/proc/sys/net/ipv4/ip_unprivileged_port_start"
      STATUS = "/proc/self/status"
      # The number of CAP_NET_BIND_SERVICE (capabilities(7)).
      CAPABILITY = 10
      ADDRESS = %r{\A(?:tcp|tls)://.+:(\d+)(?:\?|\z)}
      private_constant :FIRST_FREE, :STATUS, :CAPABILITY, :ADDRESS

      # `addresses` are those of the option `bind`.
      def initialize(addresses, status: File.read(STATUS), first_free: File.read(FIRST_FREE))
        @addresses = addresses
        @status = status
        @first_free = first_free.to_i
      end

      # Returns what keeps this process from listening on one of the addresses, and what to do; nil if nothing does.
      def obstacle
        return if allowed?

        address = @addresses.find { |it| it[ADDRESS, 1]&.to_i&.between?(1, @first_free - 1) } or return
        "#{address[/\A[^?]+/]}: this user may not listen on a port below #{@first_free}: give the service " \
          "AmbientCapabilities=CAP_NET_BIND_SERVICE, or let systemd pass the socket (docs/privileges.md)"
      end

      private

      def allowed?
        @status[/^CapEff:\s*(\h+)/, 1].to_s.hex[CAPABILITY] == 1
      end
    end
  end
end
