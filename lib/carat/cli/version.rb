# frozen_string_literal: true

require_relative "../version"
require_relative "subcommand"

module Carat
  module CLI
    # `carat version`.
    class Version
      include Subcommand

      USAGE = "version"
      SUMMARY = "Shows the version."

      # Prints one line.
      def run
        refuse_arguments
        say("carat #{VERSION}")
      end
    end
  end
end
