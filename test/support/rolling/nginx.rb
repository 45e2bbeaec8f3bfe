# frozen_string_literal: true

require "support/differential/nginx"

module Support
  module Rolling
    # nginx, which asks nobody: it goes to the next Carat when one refuses a connection. It is made with the ports of
    # the Carats.
    class Nginx < Differential::Nginx
      private

      # Without `max_fails=0`, nginx avoids a Carat for 10 s after a refused connection, and at the end all of them.
      # What it has not used for a while it closes: it does not repeat a POST that meets the end of its connection.
      def configuration
        servers = @carat.map { |carat| "server 127.0.0.1:#{carat} max_fails=0;" }
        super.sub(/server 127.0.0.1:\[.*?\];/, servers.join(" ")).sub("keepalive 8;", "\\0 keepalive_timeout 200ms;")
      end
    end
  end
end
