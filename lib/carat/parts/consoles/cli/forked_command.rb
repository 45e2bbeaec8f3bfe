# frozen_string_literal: true

require_relative "../../../config/config_error"
require_relative "../../../cli/control/control_client"
require_relative "../../../cli/command_error"
require_relative "console_session"

module Carat
  module CLI
    # What `carat console` and `carat run` have in common: a process that the server forks from its mold for them.
    module ForkedCommand
      # Variables that describe the terminal.
      TERMINAL = %w[TERM LANG COLUMNS].freeze
      NAME = /\A[a-z_][a-z0-9_]*\z/i
      private_constant :TERMINAL, :NAME

      private

      def more_flags(parser)
        @variables = @env.to_h.slice(*TERMINAL).map { |name, value| "#{name}=#{value}" }
        parser.on("--env NAME[=VALUE]", "Pass a variable, or set one; repeatable") { |text| pass(text) }
      end

      # A variable that is not set here is not set there.
      def pass(text)
        name, value = text.split("=", 2)
        raise Config::ConfigError, "--env: #{text.inspect} has no name of a variable" unless NAME.match?(name.to_s)

        value ||= @env[name]
        @variables << (value ? "#{name}=#{value}" : name)
      end

      # `instead` is the command for those who have no server. Returns the exit status.
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
