# frozen_string_literal: true

require_relative "doctor/examination"
require_relative "doctor/finding"
require_relative "../subcommand"

module Carat
  module CLI
    # `carat doctor`.
    class Doctor
      include Subcommand

      # What follows `Usage: carat` in the help.
      USAGE = "doctor [options] [config.ru]"

      # The sentence in the list of subcommands.
      SUMMARY = "Validates the configuration, checks this machine, and exits."

      # Prints a line for each check, and fails when there is a problem. Raises ConfigError.
      def run
        examination = Examination.new(configuration)
        say(Finding.ok("configuration", configuration_summary), *examination.findings)
        examination.healthy? ? SUCCESS : FAILURE
      end
    end
  end
end
