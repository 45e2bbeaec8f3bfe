# frozen_string_literal: true

require_relative "../config/config_error"
require_relative "../config/flags"

module Carat
  module CLI
    # The subcommands by name. To add one, write a class that includes Subcommand in a file of that name, and add the
    # name to NAMES.
    module Subcommands
      # Every subcommand, in the order of the help.
      NAMES = %w[serve check doctor memory help version].freeze

      # The subcommand that runs when the command line names none.
      DEFAULT = "serve"

      module_function

      # Loads and returns the class of the subcommand called `name`, one of NAMES.
      def fetch(name)
        require_relative name
        CLI.const_get(name.capitalize)
      end

      # Splits the words of a command line into the subcommand's name and the other words. Flags may come before the
      # name; after `--` a word is a file.
      def split(argv)
        following = Config::Flags.new.parse_leading(argv)
        leading = argv.first(argv.size - following.size)
        return [DEFAULT, argv] unless NAMES.include?(following.first) && leading.last != "--"

        [following.first, leading + following.drop(1)]
      rescue Config::ConfigError
        [DEFAULT, argv] # which reports the error
      end
    end
  end
end
