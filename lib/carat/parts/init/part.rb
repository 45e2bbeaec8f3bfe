# frozen_string_literal: true

require_relative "../part"

module Carat
  module Parts
    # `carat init`, which writes a configuration for the application in this directory.
    module Init
      # The methods that the command line calls. The part has no option, and the server does not use it.
      class Part < Parts::Part
        # The subcommand `init`.
        def subcommands
          { "init" => File.join(__dir__, "init") }
        end
      end
    end
  end
end
