# frozen_string_literal: true

require_relative "../part"

module Carat
  module Parts
    # `carat console` and `carat run`: processes that are forked from the mold for a client of the control socket.
    module Consoles
      # The options of the part, and what the server calls.
      class Part < Parts::Part
        option :console, key: :enabled, group: "Service", type: :boolean, default: true, edge: true,
                         mold: true,
                         doc: "Whether the server's user and root get consoles of the application from the server."

        # The name of a console's process, where others have the name of a `process` of the config file.
        NAME = "console"

        # A console, or a command, with the loaded application.
        def subcommands
          %w[console run].to_h { |name| [name, File.join(__dir__, "cli", name)] }
        end

        # The name of the processes of clients.
        def process_names = { NAME => "`carat console`" }

        # Notes what the application is loaded from.
        def before_load(_control, configuration)
          return unless configuration[:console]

          require_relative "process/console"
          Processes::Console.code = Processes::ChangedCode.new
        end

        # Returns the role that runs what the client wants.
        def role(order)
          Processes::Console if order.name == NAME
        end
      end
    end
  end
end
