# frozen_string_literal: true

require_relative "../../../config/config_error"
require_relative "../../../cli/control/control_client"
require_relative "../../../cli/command_error"
require_relative "console_session"

module Carat
  module CLI
    # The methods that `carat console` and `carat run` share. For each, the server forks a process from its mold.
    module ForkedCommand
      # The variables that describe the terminal, and are always passed.
      TERMINAL = %w[TERM LANG COLUMNS].freeze
      NAME = /\A[a-z_][a-z0-9_]*\z/i
      private_constant :TERMINAL, :NAME

      private

      def more_flags(parser)
        @variables = @env.to_h.slice(*TERMINAL).map { |name, value| "#{name}=#{value}" }
        parser.on("--env NAME[=VALUE]", "Pass a variable, or set one; repeatable") { |text| pass(text) }
      end

      # Notes a variable to pass. A variable that is not set here is removed from the server's process.
      def pass(text)
        name, value = text.split("=", 2)
        raise Config::ConfigError, "--env: #{text.inspect} has no name of a variable" unless NAME.match?(name.to_s)

        value ||= @env[name]
        @variables << (value ? "#{name}=#{value}" : name)
      end

      # Runs the command in a process of the server and returns its exit status. `instead` is the command to suggest
      # when there is no server.
      def fork_command(kind, words, instead:)
        order = [kind, @variables.size, *@variables, *words].join("\0")
        session = ConsoleSession.new(order)
        client = ControlClient.new(@server.path)
        client.upgrade("/console", "carat-console") { |socket| session.run(socket) }
        session.finish
      rescue ControlError => e
        raise if client&.answered?

        raise ControlError, "#{e.message}\ncarat: without a server: #{instead}"
      end
    end
  end
end
