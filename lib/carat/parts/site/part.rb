# frozen_string_literal: true

require_relative "../part"

module Carat
  module Parts
    # Responses that the edge makes without the application: files, error pages, the maintenance page, and redirects to
    # HTTPS.
    module Site
      # The options of the part, and the methods that the server calls.
      class Part < Parts::Part
        option :force_tls, group: "Proxies", type: :boolean, default: false, edge: true,
                           doc: "Whether requests in clear are sent to https, except those for `readiness_path`."
        option :hsts_max_age, group: "Proxies", type: :integer, within: 0..3_153_600_000, default: 31_536_000,
                              edge: true,
                              doc: "With `force_tls`: seconds for which browsers ask for this host over https only."
        option :static, key: :static_files, group: "Responses", type: :static, default: [], edge: true, restart: true,
                        doc: "A directory whose files are served without the application; repeatable."
        option :sendfile, group: "Responses", type: :static, default: [], edge: true, restart: true,
                          doc: "A directory from which the application may name files to send; repeatable."
        option :error_pages, group: "Responses", type: :pages, edge: true, restart: true,
                             doc: "Directory of pages, one for each status, for browsers in place of the server's " \
                                  "own " \
                                  "errors."
        option :maintenance, group: "Responses", type: :optional_path, edge: true, restart: true,
                             doc: "A page that all clients get, with 503, as long as this file is there."

        # Raises ConfigError unless the directory of `maintenance` exists. The page itself may come and go.
        def check(configuration)
          configuration.check_directory(:maintenance)
        end

        # Whether requests in the clear are redirected to HTTPS.
        def https?(configuration) = configuration[:force_tls]

        # The suggestion to serve the directory `public`, if the application has it.
        def init_lines(application)
          application.public? ? [[:suggestion, :static, '"public"']] : []
        end
      end
    end
  end
end
