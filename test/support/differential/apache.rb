# frozen_string_literal: true

require_relative "front"

module Support
  module Differential
    # Apache httpd with mod_proxy_http.
    class Apache < Front
      PROGRAM = "apache2"
      STOP = :WINCH
      MODULES = "/usr/lib/apache2/modules"
      LOADED = %w[mpm_event authz_core proxy proxy_http].freeze
      THREADS = 256

      private

      def arguments
        [program, "-D", "FOREGROUND", "-d", directory, "-f", File.join(directory, CONFIGURATION)]
      end

      def configuration
        <<~TEXT
          #{LOADED.map { |name| "LoadModule #{name}_module #{MODULES}/mod_#{name}.so" }.join("\n")}
          ServerName localhost
          Listen 127.0.0.1:#{port}
          ListenBacklog 1024
          DefaultRuntimeDir #{directory}
          PidFile httpd.pid
          ErrorLog error.log
          LogFormat "%>s %r" requests
          CustomLog #{ACCESS_LOG} requests
          ServerLimit 1
          StartServers 1
          ThreadLimit #{THREADS}
          ThreadsPerChild #{THREADS}
          MaxRequestWorkers #{THREADS}
          MaxKeepAliveRequests 0
          KeepAliveTimeout #{PATIENCE}
          Timeout #{PATIENCE}
          ProxyTimeout 60
          ProxyPreserveHost On
          ProxyPass / http://127.0.0.1:#{@carat}/
        TEXT
      end
    end
  end
end
