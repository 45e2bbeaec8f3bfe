# frozen_string_literal: true

require_relative "../part"
require_relative "../../log/counted"

module Carat
  module Parts
    # Action Cable whose sockets the edge keeps.
    module Cable
      # Sends broadcasts to the edge, over the Native::Control of a process.
      Streams = Struct.new(:control) do
        # Sends `payload`, JSON, to all subscribers of `stream`. Returns false when the payload or the name is too long.
        # Any thread may call this.
        def broadcast(stream, payload)
          control.tell("cable", stream, payload)
        end
      end

      # The options of the part, and the methods that the server calls.
      class Part < Parts::Part
        option :cable, key: :path, group: "Requests", type: :prefix, edge: true, mold: true,
                       doc: "The path where the edge serves Action Cable, such as /cable; not set: the application " \
                            "does."
        option :cable_history, key: :history, group: "Requests", type: :timeout, edge: true, default_text: "off",
                               doc: "How long broadcasts are kept for clients of the protocol actioncable-v1-ext-json."
        option :cable_history_bytes, key: :history_bytes, group: "Requests", type: :bytes, within: 64 * KIB..,
                                     default: 16 * MIB, edge: true,
                                     doc: "Bytes of these broadcasts, over all streams; the oldest are forgotten first."
        option :cable_compression, key: :compression, group: "Requests", type: :boolean, default: false, edge: true,
                                   doc: "Whether messages of the cable are compressed for clients that offer " \
                                        "permessage-deflate."
        option :cable_token, key: :token, group: "Requests", type: :string, only: %i[env file], edge: true,
                             secret: true,
                             doc: "A secret with which other programs may POST /broadcast to an address of `metrics`."

        HINT = <<~TEXT
          # Action Cable runs in the workers, as with Puma. The edge can serve its sockets instead, which then outlive workers
          # and restarts (docs/cable.md); config/cable.yml must name the adapter carat:
          # cable "/cable"
        TEXT
        private_constant :HINT

        # The line of `carat status` about sockets, streams, and what went over the sockets.
        def status(report)
          cable = report["cable"] or return []
          nouns = { "sockets" => "socket", "streams" => "stream", "received" => "command",
                    "broadcasts" => "broadcast", "sent" => "message" }
          counted = nouns.to_h { |key, noun| [key, Log::Counted.of(cable[key], noun)] }
          ["cable: #{counted["sockets"]}, #{counted["streams"]}; #{counted["received"]}, #{cable["lost"]} lost; " \
           "#{counted["broadcasts"]}, #{counted["sent"]}, #{cable["slow"]} clients too slow"]
        end

        # Connects the mold, too, because the application may broadcast while it is loaded.
        def before_load(control, configuration)
          join(control, configuration)
        end

        # Wraps the application in the Rack application that runs the commands of sockets.
        def install(app, configuration)
          path = configuration[:cable] or return app
          Carat::Cable.install(app, path, configuration.processes, prefix: configuration[:prefix].to_s)
        end

        # Makes broadcasts of this process go to the edge over `control`. Returns whether the process must keep
        # `control`.
        def join(control, configuration)
          return false unless configuration[:cable]

          Carat::Cable.join(Streams.new(control), configuration)
          true
        end

        # Returns the variable that tells a program where the server's control socket is, so that it can broadcast.
        def command_environment(configuration)
          configuration[:cable] ? { Carat::Cable::SOCKET_VARIABLE => Carat::Cable.server_path } : {}
        end

        # The line for `carat.rb`: a setting if config/cable.yml names the adapter carat, otherwise a suggestion.
        def init_lines(application)
          text = application.read("config/cable.yml")
          return [[:setting, :cable, '"/cable"']] if text.match?(/^\s*adapter:\s*["']?carat\b/)

          remark = "config/cable.yml must name the adapter carat."
          File.file?("config/cable.yml") ? [[:suggestion, :cable, '"/cable"', remark]] : []
        end

        # A hint for applications with Action Cable.
        def import_hints = { "config/cable.yml" => HINT }
      end
    end
  end
end
