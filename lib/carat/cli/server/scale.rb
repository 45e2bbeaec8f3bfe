# frozen_string_literal: true

require_relative "../../config/config_error"
require_relative "../../config/sources/processes"
require_relative "../../config/type"
require_relative "../control/control_command"

module Carat
  module CLI
    # `carat scale`.
    class Scale
      include ControlCommand

      # The words after `Usage: carat` in the help.
      USAGE = "scale WORKERS | PROCESS COUNT [--pid PID | --control-socket PATH]"

      # The sentence in the list of subcommands.
      SUMMARY = "Sets how many workers (4, 1..6, auto) or processes run."
      # The pattern of a number of workers, by its start. The name of a process, in contrast, starts
      # with a letter.
      NUMBER = /\A(?:auto\z|[^a-z])/i
      private_constant :NUMBER

      # Prints the new number. Raises ConfigError and ControlError.
      def run
        return scale_process(*@arguments) if @arguments.size == 2

        raise Config::ConfigError, "scale: needs WORKERS, or PROCESS COUNT" unless NUMBER.match?(@arguments.first)

        workers = argument("WORKERS", Config::Type.build(:workers))
        reply = ask(:post, "/scale?workers=#{workers}")
        say("carat: workers #{range(reply.fetch("workers"))}, before #{range(reply.fetch("before"))}")
      end

      private

      def scale_process(name, count)
        count = Config::InvalidValue.at("scale") do
          Config::Processes.check_name(name)
          Config::Processes::COUNT.parse(count)
        end
        reply = ask(:post, "/scale?process=#{name}&count=#{count}")
        say("carat: process #{name} #{range(reply.fetch("count"))}, before #{range(reply.fetch("before"))}")
      end

      def range(bounds)
        min, max = bounds
        min == max ? min.to_s : "#{min}..#{max}"
      end
    end
  end
end
