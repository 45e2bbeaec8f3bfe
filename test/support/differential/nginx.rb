# frozen_string_literal: true

require_relative "front"

module Support
  module Differential
    # nginx as its users put it in front of an application server.
    class Nginx < Front
      PROGRAM = "nginx"
      STOP = :QUIT

      private

      def arguments
        [program, "-p", directory, "-e", "stderr", "-c", CONFIGURATION]
      end

      def configuration
        temporary = %w[client_body proxy fastcgi uwsgi scgi].map { |kind| "#{kind}_temp_path #{kind};" }
        <<~TEXT
          daemon off;
          pid nginx.pid;
          events { worker_connections 2000; }
          http {
            #{temporary.join(" ")}
            log_format requests '$status $request_method $request_uri $server_protocol';
            access_log #{ACCESS_LOG} requests;
            client_header_timeout #{PATIENCE};
            client_body_timeout #{PATIENCE};
            keepalive_timeout #{PATIENCE};
            upstream carat { server 127.0.0.1:#{@carat}; keepalive 8; }
            server {
              listen 127.0.0.1:#{port} backlog=1024;
              location / {
                proxy_pass http://carat;
                proxy_http_version 1.1;
                proxy_set_header Connection "";
                proxy_set_header Host $http_host;
                proxy_request_buffering off;
              }
            }
          }
        TEXT
      end
    end
  end
end
