# frozen_string_literal: true

require_relative "../part"
require_relative "puma_hints"

module Carat
  module Parts
    # Help for those who come from Puma: `carat import` translates its configuration, and messages say what its words
    # are called here.
    module Import
      # What the command line calls: the part has no option, and no server knows it.
      class Part < Parts::Part
        # Where Puma looks for its configuration.
        PLACES = %w[config/puma.rb puma.rb].freeze

        # The subcommand.
        def subcommands
          { "import" => File.join(__dir__, "import") }
        end

        # The configuration of Puma, which is not read.
        def foreign_configuration
          path = PLACES.find { |place| File.file?(place) }
          [path, "carat import > carat.rb"] if path
        end

        # Says what to use in place of a flag or a method of Puma.
        def word_hint(word, path = nil)
          path ? PumaHints.method(word, path) : PumaHints.flag(word)
        end

        # Says that Puma's two numbers of threads are one here.
        def value_hint(option, values)
          option.name == :threads ? PumaHints.threads(values) : ""
        end
      end
    end
  end
end
