# frozen_string_literal: true

require_relative "../../config/sources/flags"
require_relative "../../config/sources/variables"
require_relative "../../launch/surroundings/low_ports"
require_relative "../subcommand"
require_relative "option_rows"

module Carat
  module CLI
    # `carat check`.
    class Check
      include Subcommand

      # The words after `Usage: carat` in the help.
      USAGE = "check [--print] [options] [config.ru]"

      # The sentence in the list of subcommands.
      SUMMARY = "Validates the configuration and exits."

      # Prints one line when the configuration is valid, and with `--print` the options above it. Warnings come before
      # that line: of variables without effect, and of a port that this user may not listen on, which is no error
      # because the server may run as another user. Raises ConfigError.
      def run
        say(*option_rows, *Config::Variables.warnings(@env), *Launch::LowPorts.new(configuration[:bind]).obstacle,
            "carat: the configuration is valid: #{configuration_summary}")
      end

      private

      def flags
        Config::Flags.new(help: "carat check --help") do |parser|
          parser.separator("Of check:")
          parser.on("--print", "Print options, and where they are set") { @print = true }
          parser.separator("")
        end
      end

      def option_rows
        return unless @print

        before = @env.to_h.dup
        [*OptionRows.new(configuration, before:, env: @env).lines, ""]
      end
    end
  end
end
