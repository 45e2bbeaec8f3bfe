# frozen_string_literal: true

require_relative "../version"
require_relative "subcommand"

module Carat
  module CLI
    # `carat version`.
    class Version
      include Subcommand

      # The words after `Usage: carat` in the help.
      USAGE = "version"

      # The sentence in the list of subcommands.
      SUMMARY = "Shows the version."

      # Prints one line.
      def run
        refuse_arguments
        say("carat #{VERSION}")
      end
    end
  end
end
