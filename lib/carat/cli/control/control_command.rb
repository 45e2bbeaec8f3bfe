# frozen_string_literal: true

require "json"
require_relative "../../config/config_error"
require_relative "../../config/type"
require_relative "../command_error"
require_relative "running_server"
require_relative "../subcommand"

module Carat
  module CLI
    # The methods that the subcommands for a running server share. Each subcommand prints what the server did, or fails
    # with a sentence.
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

      # Returns the JSON object with which the server answers a request to `path`: a report (GET), or what it did
      # (POST). `options` go to ControlClient.
      def ask(verb, path, **options)
        reply = JSON.parse(verb == :get ? @server.get(path, **options) : @server.post(path, **options))
        return reply if reply.is_a?(Hash)

        raise ControlError, "carat: #{@server.path}: it does not send an object"
      rescue JSON::ParserError
        raise ControlError, "carat: #{@server.path}: it does not send JSON"
      end

      # Polls the report of `path` until its state is one of `states`, and returns it. The loop ends, because each step
      # of the server has a time limit, and so has each request.
      def follow(path, *states)
        loop do
          report = ask(:get, path)
          return report if states.include?(report["state"])

          sleep(PAUSE_SECONDS)
        end
      end

      # Prints the lines that the block returns. Raises ControlError, which names `noun`, when the reply lacks a field
      # that the block reads.
      def show(noun)
        say(*yield)
      rescue KeyError, NoMethodError, TypeError
        raise ControlError, "carat: #{@server.path}: it does not send #{noun}"
      end

      def json(report)
        JSON.generate(report, ascii_only: true)
      end

      # Returns the argument, parsed as a value of `type`, or `default` when there is no argument. Raises ConfigError.
      def argument(name, type, default: nil)
        text = single_argument(name) || default
        raise Config::ConfigError, "#{self.class::USAGE[/\S+/]}: needs #{name}" unless text

        Config::InvalidValue.at(self.class::USAGE[/\S+/]) { type.parse(text) }
      end
    end
  end
end
