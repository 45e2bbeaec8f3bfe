# frozen_string_literal: true

require_relative "../../config/config_error"
require_relative "../../config/sources/processes"
require_relative "../../config/type"
require_relative "../control/control_command"

module Carat
  module CLI
    # `carat kill-process`.
    class KillProcess
      include ControlCommand

      # The words after `Usage: carat` in the help.
      USAGE = "kill-process NAME [NUMBER] [--pid PID] [--json]"

      # The sentence in the list of subcommands.
      SUMMARY = "Replaces processes of this name, as a restart does."
      NUMBER = Config::Type.build(:integer, 1..4_294_967_295)
      private_constant :NUMBER

      # Prints which processes are replaced, or with `--json` the server's report. Raises ConfigError and ControlError.
      def run
        name, number, *more = @arguments
        raise Config::ConfigError, "kill-process: needs NAME [NUMBER]" if name.nil? || more.any?

        number = Config::InvalidValue.at("kill-process") do
          Config::Processes.check_name(name)
          "&number=#{NUMBER.parse(number)}" if number
        end
        reply = ask(:post, "/kill-process?process=#{name}#{number}")
        say(@json ? json(reply) : sentence(reply))
      end

      private

      def more_flags(parser)
        parser.on("--json", "Print the server's JSON") { @json = true }
      end

      def sentence(reply)
        pids = reply.fetch("pids")
        "carat: #{reply.fetch("process")} is replaced, process id#{"s" if pids.size > 1} #{pids.join(", ")}"
      end
    end
  end
end
