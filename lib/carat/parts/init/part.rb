# frozen_string_literal: true

require_relative "../part"

module Carat
  module Parts
    # `carat init`, which writes a configuration for the application in this directory.
    module Init
      # What the command line calls: the part has no option, and no server knows it.
      class Part < Parts::Part
        # The subcommand.
        def subcommands
          { "init" => File.join(__dir__, "init") }
        end
      end
    end
  end
end
