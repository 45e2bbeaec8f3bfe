# frozen_string_literal: true

require "support/differential/haproxy"

module Support
  # Load balancers from Debian in front of several Carats.
  module Rolling
    # HAProxy that asks each Carat whether it is ready. It is made with the ports of the Carats.
    class HAProxy < Differential::HAProxy
      READINESS = "/up"

      # How often it has found a Carat to be "UP" or "DOWN".
      def count(port, state)
        log.scan(%r{^Server carats/#{port} is #{state}}).size
      end

      private

      def configuration
        defaults + <<~TEXT
            timeout client 60s
            timeout check 10s
          frontend clients
            bind 127.0.0.1:#{port}
            default_backend carats
          backend carats
            option httpchk GET #{READINESS}
            http-check expect status 200
            default-server check inter 200ms fall 1 rise 1
            #{@carat.map { |carat| "server #{carat} 127.0.0.1:#{carat}" }.join("\n  ")}
        TEXT
      end
    end
  end
end
