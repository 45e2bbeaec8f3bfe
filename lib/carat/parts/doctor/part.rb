# frozen_string_literal: true

require_relative "../part"

module Carat
  module Parts
    # `carat doctor`, which checks the machine and the application before a server runs.
    module Doctor
      # The methods that the command line calls. The part has no option, and the server does not use it.
      class Part < Parts::Part
        # The subcommand.
        def subcommands
          { "doctor" => File.join(__dir__, "doctor") }
        end
      end
    end
  end
end
