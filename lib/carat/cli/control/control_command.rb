# frozen_string_literal: true

require "json"
require_relative "../../config/config_error"
require_relative "../../config/type"
require_relative "../command_error"
require_relative "running_server"
require_relative "../subcommand"

module Carat
  module CLI
    # What the subcommands that ask a running server have in common. Each prints what the server did, or fails with a
    # sentence.
    module ControlCommand
      include Subcommand

      PAUSE_SECONDS = 0.1
      private_constant :PAUSE_SECONDS

      private

      def flags
        @server = RunningServer.new(self.class::USAGE[/\S+/], @env) { |parser| more_flags(parser) }
        @server.flags
      end

      # Defines the flags of one subcommand; none by default.
      def more_flags(_parser)
      end

      # Returns the server's JSON object about `path` (GET), or about what it did (POST). `options` go to
      # ControlClient.
      def ask(verb, path, **options)
        reply = JSON.parse(verb == :get ? @server.get(path, **options) : @server.post(path, **options))
        return reply if reply.is_a?(Hash)

        raise ControlError, "carat: #{@server.path}: it does not send an object"
      rescue JSON::ParserError
        raise ControlError, "carat: #{@server.path}: it does not send JSON"
      end

      # Returns the report of `path` once its state is one of these. The wait ends: each step of the server has a time
      # limit, and so has each request.
      def follow(path, *states)
        loop do
          report = ask(:get, path)
          return report if states.include?(report["state"])

          sleep(PAUSE_SECONDS)
        end
      end

      # Prints the lines that the block returns. Raises ControlError, with `noun`, when the reply lacks what the lines
      # show.
      def show(noun)
        say(*yield)
      rescue KeyError, NoMethodError, TypeError
        raise ControlError, "carat: #{@server.path}: it does not send #{noun}"
      end

      def json(report)
        JSON.generate(report, ascii_only: true)
      end

      # Returns the argument, parsed as a value of the type; `default` stands in for one that is missing. Raises
      # ConfigError.
      def argument(name, type, default: nil)
        text = single_argument(name) || default
        raise Config::ConfigError, "#{self.class::USAGE[/\S+/]}: needs #{name}" unless text

        Config::InvalidValue.at(self.class::USAGE[/\S+/]) { type.parse(text) }
      end
    end
  end
end
