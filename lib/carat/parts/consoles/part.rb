# frozen_string_literal: true

require_relative "../part"

module Carat
  module Parts
    # `carat console` and `carat run`: processes that are forked from the mold for a client of the control socket.
    module Consoles
      # The options of the part, and the methods that the server calls.
      class Part < Parts::Part
        option :console, key: :enabled, group: "Service", type: :boolean, default: true, edge: true,
                         mold: true,
                         doc: "Whether the server's user and root get consoles of the application from the server."

        # The name of a console's process; other processes have the name of a `process` in the config file.
        NAME = "console"

        # The subcommands `console` and `run`.
        def subcommands
          %w[console run].to_h { |name| [name, File.join(__dir__, "cli", name)] }
        end

        # The name that no `process` of the config file may have, and what has it.
        def process_names = { NAME => "`carat console`" }

        # Notes the time, and the files from which the application is loaded, for ChangedCode.
        def before_load(_control, configuration)
          return unless configuration[:console]

          require_relative "process/console"
          Processes::Console.code = Processes::ChangedCode.new
        end

        # Returns the role of a console's process, or nil for another process.
        def role(order)
          Processes::Console if order.name == NAME
        end
      end
    end
  end
end
