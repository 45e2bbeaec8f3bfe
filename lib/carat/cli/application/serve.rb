# frozen_string_literal: true

require_relative "../../config/config_error"
require_relative "../../config/sources/variables"
require_relative "../../launch/launch_error"
require_relative "../../launch/launcher"
require_relative "../../log/process_log"
require_relative "../../native_path"
require_relative "../../parts"
require_relative "../help"
require_relative "../subcommand"

module Carat
  module CLI
    # `carat serve`, and `carat` alone: starts the server in place of this process.
    class Serve
      include Subcommand

      # The words after `Usage: carat` in the help.
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
        elsewhere = NativePath.elsewhere
        raise Launch::LaunchError, "carat: #{elsewhere}" if elsewhere

        log = Log::ProcessLog.new(format: configuration[:log_format])
        remarks = [*Config::Variables.warnings(@env), *(NativePath.stale if $stderr.tty?)]
        remarks.each { |line| log.warn(line) }
        warn_of_foreign_configuration(log)
        @launcher.new(configuration, @flags.words, pid_file: @pid_file).launch(log:)
        SUCCESS
      rescue Config::ConfigError, Launch::LaunchError => e
        raise unless log

        raise e.class, log.line(e.message)
      end

      # Returns the text of `carat --help`.
      def help
        Help.overview(@flags)
      end

      private

      # Warns of the config file of another server, such as Puma: a team that switches may expect it to be in effect.
      def warn_of_foreign_configuration(log)
        return if configuration.config_path

        Parts.filter_map(&:foreign_configuration).each do |path, command|
          log.warn("#{path} is not read, and there is no carat.rb: #{command}")
        end
      end
    end
  end
end
