# frozen_string_literal: true

require "json"
require_relative "../config/configuration"
require_relative "control_client"
require_relative "control_sockets"
require_relative "memory_table"

module Carat
  module CLI
    # `carat memory`: asks a running server what its processes weigh.
    class MemoryCommand
      # `line` is the CommandLine, `env` is ENV or a Hash.
      def initialize(line, env)
        @line = line
        @env = env
      end

      # Returns what is to be printed. Raises ControlError when no server can be asked, ConfigError.
      def to_s
        report = JSON.parse(ControlClient.new(path).get("/memory"))
        @line.flags[:json] ? JSON.generate(report, ascii_only: true) : MemoryTable.new(report).to_s
      rescue JSON::ParserError, KeyError, NoMethodError, TypeError
        raise ControlError, "carat: #{path}: it does not send a memory report"
      end

      private

      # The socket that a flag names, or else the configuration, or else the only one in spool_dir.
      def path
        return @line.settings.fetch(:control_socket) if @line.settings.key?(:control_socket)
        return sockets.of(@line.flags[:pid]) if @line.flags.key?(:pid)

        configuration[:control_socket] || sockets.only
      end

      def sockets
        @sockets ||= ControlSockets.new(configuration[:spool_dir])
      end

      # Only of what is needed: the command may be run where no application is.
      def configuration
        @configuration ||= Config::Configuration.new(@line.settings, @env, only: %i[control_socket spool_dir])
      end
    end
  end
end
