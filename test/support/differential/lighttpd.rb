# frozen_string_literal: true

require_relative "front"

module Support
  module Differential
    # lighttpd with mod_proxy.
    class Lighttpd < Front
      PROGRAM = "lighttpd"
      STOP = :INT

      private

      def arguments
        [program, "-D", "-f", CONFIGURATION]
      end

      def configuration
        <<~TEXT
          server.modules = ("mod_accesslog", "mod_proxy")
          server.document-root = "#{directory}"
          server.upload-dirs = ("#{directory}")
          server.bind = "127.0.0.1"
          server.port = #{port}
          server.listen-backlog = 1024
          server.max-connections = 900
          server.max-fds = 2000
          server.max-keep-alive-requests = 1000
          server.max-keep-alive-idle = #{PATIENCE}
          server.max-read-idle = #{PATIENCE}
          server.stream-request-body = 2
          accesslog.filename = "#{directory}/#{ACCESS_LOG}"
          accesslog.format = "%s %r"
          proxy.server = ("" => (("host" => "127.0.0.1", "port" => #{@carat})))
        TEXT
      end
    end
  end
end
