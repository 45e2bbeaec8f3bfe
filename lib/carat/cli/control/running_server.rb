# frozen_string_literal: true

require_relative "../../config/configuration"
require_relative "../../config/sources/flags"
require_relative "../../config/config_error"
require_relative "../../config/options"
require_relative "../../config/settings"
require_relative "../../config/sources/variables"
require_relative "../../config/type/number/whole_number"
require_relative "../../launch/surroundings/control_directories"
require_relative "control_client"
require_relative "control_sockets"

module Carat
  module CLI
    # A server that runs already, for the subcommands that ask one. A flag names its control socket or its process id.
    # Without such a flag, a variable or the config file may name the socket; otherwise the server is the only one that
    # runs.
    class RunningServer
      # The options that say where the control socket is.
      OPTIONS = %i[config environment control_socket].freeze
      PID = Config::Type::WholeNumber.new(1..)
      private_constant :OPTIONS, :PID

      # The Flags of the subcommand.
      attr_reader :flags

      # `name` is the subcommand, and `env` is ENV or a Hash. The block, if there is one, gets the OptionParser, to
      # define the subcommand's own flags.
      def initialize(name, env)
        @env = env
        @flags = Config::Flags.new(options: OPTIONS.map { |option| Config::Options.fetch(option) },
                                   help: "carat #{name} --help") do |parser|
          parser.separator("Server:")
          parser.on("--pid PID", "The server with this process id") do |text|
            @pid = Config::InvalidValue.at("--pid") { PID.parse(text) }
          end
          yield parser if block_given?
          parser.separator("")
        end
      end

      # Returns the body of the response to a GET of `target`, a String; `options` go to ControlClient. Raises
      # ControlError when no server can be asked, and ConfigError.
      def get(target, **options)
        ControlClient.new(path, **options).get(target)
      end

      # Returns the body of the response to a POST of `target`, a String. Raises ControlError when no server can be
      # asked or the server refuses, and ConfigError.
      def post(target, **options)
        ControlClient.new(path, **options).post(target)
      end

      # Makes the next request look for the running servers again.
      def forget
        @sockets = nil
      end

      # Returns the path of the control socket. Raises ControlError and ConfigError.
      def path
        return @flags.settings.fetch(:control_socket) if @flags.settings.key?(:control_socket)
        return sockets.of(@pid) if @pid

        named || configuration[:control_socket] || sockets.only
      end

      private

      def sockets
        @sockets ||= ControlSockets.new(Launch::ControlDirectories.new(environment: @env).searched)
      end

      # The path in the environment variable, if it is set. For a server the config file is stronger than the variable,
      # but for a command the variable comes first: whoever sets it for a command means that socket.
      def named
        option = Config::Options.fetch(:control_socket)
        settings = Config::Settings.new
        Config::Variables.new(@env).read(option, settings)
        settings.fetch(:control_socket) if settings.key?(:control_socket)
      end

      # The configuration without the rackup file: this directory may have no application.
      def configuration
        @configuration ||= Config::Configuration.new(@flags.settings, @env, only: %i[control_socket])
      end
    end
  end
end
