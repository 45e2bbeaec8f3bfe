# frozen_string_literal: true

require_relative "../../config/config_error"
require_relative "../../config/type"
require_relative "../../cli/control/control_command"
require_relative "../../cli/command_error"
require_relative "top/page"
require_relative "top/screen"
require_relative "top/session"

module Carat
  module CLI
    # `carat top`.
    class Top
      include ControlCommand

      # The words after `Usage: carat` in the help.
      USAGE = "top [--interval TIME] [--pid PID | --control-socket PATH] [--json]"

      # The sentence in the list of subcommands.
      SUMMARY = "Shows what a running server does now, and goes on."
      # The seconds that may lie between two pages.
      INTERVALS = (0.2..60)
      # The default seconds between two pages.
      INTERVAL = 2
      LEGEND = <<~TEXT
        On a terminal, the page is shown again every two seconds; elsewhere, once.

        up, down   Select a process or a request.
        Tab        Go to the other table.
        s          Sort by the next column.
        Enter      Show where the selected request stands.
        k          Kill the selected worker, or that of the selected request, after a
                   question; another one takes its place.
        Space      Stop and continue.
        q, Ctrl-C  Quit.

        Rates and times are those of the last minute; without the option metrics,
        only the rate is known. Sizes are MiB, as `carat memory` has them.
      TEXT
      private_constant :INTERVAL, :INTERVALS, :LEGEND

      # Shows the page until the user quits, or once where there is no terminal. With `--json` prints the server's
      # report. Raises ConfigError and ControlError.
      def run
        refuse_arguments
        overview = ask(:get, "/top")
        return say(json(overview)) if @json
        return say(*Page.new(overview).lines) unless @out.tty? && $stdin.tty?

        Screen.new($stdin, @out).hold { |screen| Session.new(@server, screen, @interval || INTERVAL, overview).run }
        SUCCESS
      rescue KeyError, NoMethodError, TypeError
        raise ControlError, "carat: #{@server.path}: it does not send what `carat top` shows"
      end

      private

      def more_flags(parser)
        parser.on("--interval TIME", "Time between two pages, 0.2 to 60") { |text| @interval = interval(text) }
        parser.on("--json", "Print the JSON once, times in seconds") { @json = true }
      end

      def interval(text)
        seconds = Config::InvalidValue.at("--interval") { Config::Type.build(:seconds).parse(text) }
        return seconds if INTERVALS.cover?(seconds)

        raise Config::ConfigError, "--interval: #{text} is not from 0.2 s to 60 s"
      end
    end
  end
end
