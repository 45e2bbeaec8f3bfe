# frozen_string_literal: true

require_relative "../part"

module Carat
  module Parts
    # `carat doctor`, which checks the machine and the application before a server runs.
    module Doctor
      # What the command line calls: the part has no option, and no server knows it.
      class Part < Parts::Part
        # The subcommand.
        def subcommands
          { "doctor" => File.join(__dir__, "doctor") }
        end
      end
    end
  end
end
