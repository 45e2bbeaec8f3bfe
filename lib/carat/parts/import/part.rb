# frozen_string_literal: true

require_relative "../part"
require_relative "puma_hints"

module Carat
  module Parts
    # Help for users of Puma: `carat import` translates Puma's configuration, and error messages suggest Carat's names
    # for Puma's flags and methods.
    module Import
      # The methods that the command line calls. The part has no option, and the server does not use it.
      class Part < Parts::Part
        # The paths at which Puma looks for its configuration.
        PLACES = %w[config/puma.rb puma.rb].freeze

        # The subcommand `import`.
        def subcommands
          { "import" => File.join(__dir__, "import") }
        end

        # A configuration of Puma, which Carat does not read, and the command that translates it; or nil.
        def foreign_configuration
          path = PLACES.find { |place| File.file?(place) }
          [path, "carat import > carat.rb"] if path
        end

        # Says what to use in place of a flag or a method of Puma.
        def word_hint(word, path = nil)
          path ? PumaHints.method(word, path) : PumaHints.flag(word)
        end

        # Says that Puma's minimum and maximum of threads are one number here.
        def value_hint(option, values)
          option.name == :threads ? PumaHints.threads(values) : ""
        end
      end
    end
  end
end
