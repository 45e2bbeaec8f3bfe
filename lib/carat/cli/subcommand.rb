# frozen_string_literal: true

require_relative "../config/config_error"
require_relative "../config/configuration"
require_relative "../config/sources/flags"
require_relative "../config/options"
require_relative "../version"

module Carat
  module CLI
    # The methods that all subcommands share. Each subcommand is a class with a USAGE, a SUMMARY, and a method `run`
    # that returns the exit status. A subcommand with flags of its own overrides `flags`. If its help has more text,
    # that is its LEGEND.
    module Subcommand
      # The exit status when all is well.
      SUCCESS = 0

      # The exit status after a failure.
      FAILURE = 1

      # `words` are the words of the command line after the subcommand's name; `env` is ENV or a Hash. Raises
      # ConfigError.
      def initialize(words, env:, out:)
        @env = env
        @out = out
        @flags = flags
        @arguments = read_words(words)
      end

      # Runs the subcommand, or prints what `--help` and `--version` ask for. Returns the exit status.
      def call
        case @flags.request
        when :help then say(help)
        when :version then say("carat #{VERSION}")
        else run
        end
      end

      # Returns the names of the flags, as Flags#switches does.
      def switches
        @flags.switches
      end

      # Returns the text of `--help`.
      def help
        legend = "\n#{self.class.const_get(:LEGEND)}" if self.class.const_defined?(:LEGEND)
        "Usage: carat #{self.class::USAGE}\n\n#{self.class::SUMMARY}\n\n#{@flags.summary}\n#{legend}"
      end

      private

      # Reads the flags in `words`, and returns the other words.
      def read_words(words)
        @flags.parse(words)
      end

      # Returns the Flags that this subcommand takes: all options, unless the subcommand overrides this method.
      def flags
        Config::Flags.new
      end

      # The Configuration, with the rackup file that the argument names.
      def configuration
        @configuration ||= begin
          name_rackup
          Config::Configuration.new(@flags.settings, @env)
        end
      end

      # The options as words for the command line of another process, with the rackup file that the argument names.
      def words
        configuration
        @flags.words
      end

      def name_rackup
        path = single_argument("rackup file") or return
        @flags.set(Config::Options.fetch(:rackup), path, "carat")
      end

      # Returns the only argument, or nil when there is none. Messages call it `name`. Raises ConfigError when there are
      # several.
      def single_argument(name)
        raise Config::ConfigError, "#{@arguments[1]}: one #{name} is enough" if @arguments.size > 1

        @arguments.first
      end

      def refuse_arguments
        raise Config::ConfigError, "#{@arguments.first}: no argument is expected here" if @arguments.any?
      end

      # One line about what a server with this configuration would run.
      def configuration_summary
        processes = [:workers, configuration.concurrency].map do |name|
          "#{name} #{Config::Options.fetch(name).text(configuration[name])}"
        end
        [configuration[:rackup], configuration.config_path, *processes, *configuration[:bind]].compact.join(", ")
      end

      # Prints the lines and returns SUCCESS.
      def say(*lines)
        lines.each { |line| @out.puts line.to_s }
        SUCCESS
      end
    end
  end
end
