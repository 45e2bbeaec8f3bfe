# frozen_string_literal: true

require_relative "../../config/sources/variables"
require_relative "../../launch/surroundings/low_ports"
require_relative "../subcommand"

module Carat
  module CLI
    # `carat check`.
    class Check
      include Subcommand

      # What follows `Usage: carat` in the help.
      USAGE = "check [options] [config.ru]"

      # The sentence in the list of subcommands.
      SUMMARY = "Validates the configuration and exits."

      # Prints one line when the configuration is valid. Before it, warns of variables without effect, and of a port
      # that this user may not listen on: the server may have another user. Raises ConfigError.
      def run
        say(*Config::Variables.warnings(@env), *Launch::LowPorts.new(configuration[:bind]).obstacle,
            "carat: the configuration is valid: #{configuration_summary}")
      end
    end
  end
end
