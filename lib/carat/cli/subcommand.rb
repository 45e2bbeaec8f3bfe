# frozen_string_literal: true

require_relative "../config/config_error"
require_relative "../config/configuration"
require_relative "../config/sources/flags"
require_relative "../config/options"
require_relative "../version"

module Carat
  module CLI
    # What the subcommands have in common. Each is a class with a USAGE, a SUMMARY, and a method `run` that returns the
    # exit status. A subcommand with flags of its own overrides `flags`; one with more to say has a LEGEND.
    module Subcommand
      # The exit status when all is well.
      SUCCESS = 0

      # The exit status when there is a problem.
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

      # Returns the flags, as Flags#switches.
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

      # Returns the Flags that this subcommand takes: the options, unless it says otherwise.
      def flags
        Config::Flags.new
      end

      # The Configuration for the rackup file that is the argument.
      def configuration
        @configuration ||= begin
          name_rackup
          Config::Configuration.new(@flags.settings, @env)
        end
      end

      # The options as words for another process, with the rackup file that the argument names.
      def words
        configuration
        @flags.words
      end

      def name_rackup
        path = single_argument("rackup file") or return
        @flags.set(Config::Options.fetch(:rackup), path, "carat")
      end

      # Returns the argument, which is called `name` in messages, or nil. Raises ConfigError when there are more.
      def single_argument(name)
        raise Config::ConfigError, "#{@arguments[1]}: one #{name} is enough" if @arguments.size > 1

        @arguments.first
      end

      def refuse_arguments
        raise Config::ConfigError, "#{@arguments.first}: no argument is expected here" if @arguments.any?
      end

      # One line about what the configuration would run.
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
