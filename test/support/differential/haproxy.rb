# frozen_string_literal: true

require_relative "front"

module Support
  module Differential
    # HAProxy, which reuses a connection to Carat for the requests of all clients. It runs one thread, because several
    # drop log lines that they write at the same time.
    class HAProxy < Front
      PROGRAM = "haproxy"
      STOP = :USR1
      ACCESS_LOG = Daemon::LOG

      private

      def arguments
        [program, "-db", "-f", CONFIGURATION]
      end

      # What precedes the front and the back.
      def defaults
        <<~TEXT
          global
            maxconn 2000
            nbthread 1
            hard-stop-after 10s
            log stdout format raw local0
          defaults
            mode http
            log global
            log-format "%ST %HM %HU %HV"
            http-reuse always
            timeout connect 10s
            timeout server 60s
        TEXT
      end

      def configuration
        defaults + <<~TEXT
            timeout client #{PATIENCE}s
            timeout http-request #{PATIENCE}s
            timeout http-keep-alive #{PATIENCE}s
          frontend clients
            bind 127.0.0.1:#{port} backlog 1024
            default_backend carat
          backend carat
            server carat 127.0.0.1:#{@carat}
        TEXT
      end
    end
  end
end
