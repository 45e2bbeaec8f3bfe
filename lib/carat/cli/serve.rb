# frozen_string_literal: true

require_relative "../launch/launcher"
require_relative "help"
require_relative "subcommand"

module Carat
  module CLI
    # `carat serve`, and `carat` alone: starts the server in place of this process.
    class Serve
      include Subcommand

      # What follows `Usage: carat` in the help.
      USAGE = "[serve] [options] [config.ru]"

      # The sentence in the list of subcommands.
      SUMMARY = "Serves the application; the default."

      # `launcher` is a class like Launch::Launcher; `pid_file` is the path of a pid file that was written for this
      # process, and that the server is to remove.
      def initialize(words, launcher: Launch::Launcher, pid_file: nil, **options)
        super(words, **options)
        @launcher = launcher
        @pid_file = pid_file
      end

      # Does not return when the server starts. Raises ConfigError and LaunchError.
      def run
        @launcher.new(configuration, @flags.words, pid_file: @pid_file).launch
        SUCCESS
      end

      # Returns the text of `carat --help`.
      def help
        Help.overview(@flags)
      end
    end
  end
end
