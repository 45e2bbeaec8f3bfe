# frozen_string_literal: true

require_relative "../cable"
require_relative "../config/config_error"
require_relative "patches/channel"
require_relative "patches/connection"
require_relative "patches/legacy_connection"
require_relative "patches/server"
require_relative "refusals"

module Carat
  module Cable
    # Prepares Action Cable of a loaded application.
    class Installation
      # The adapter that passes broadcasts to the edge, and the one that Rails uses in tests.
      ADAPTERS = %w[carat test].freeze
      OLDEST = "7.0"
      PROCESS = "cable"
      private_constant :ADAPTERS, :OLDEST, :PROCESS

      # `processes` are those that the config file declares, by name.
      def initialize(processes)
        @processes = processes
      end

      # Raises ConfigError when the application cannot run this way.
      def run
        check_library
        check_adapter
        check_broker
        Refusals.check_loaded
        patch
      rescue Error => e
        raise Config::ConfigError, "cable: #{e.message}"
      end

      private

      def check_library
        unless defined?(::ActionCable.server)
          raise Error, "the application does not load Action Cable: require \"action_cable/engine\" in " \
                       "config/application.rb"
        end
        return unless ::ActionCable.version < Gem::Version.new(OLDEST)

        raise Error, "Action Cable #{::ActionCable.version} is older than #{OLDEST}"
      end

      def check_adapter
        adapter = ::ActionCable.server.config.cable&.fetch("adapter", nil)
        return if ADAPTERS.include?(adapter)

        raise Error, "config/cable.yml must name the adapter carat#{", not #{adapter}" if adapter}"
      end

      # Loads the adapter, too, whose memory all processes then share.
      def check_broker
        return if !Cable.broker || @processes[PROCESS]

        raise Error, "config/cable.yml passes broadcasts through #{Broker.through}, which no process of this server " \
                     "hears: add process(\"#{PROCESS}\", overlap: true) { Carat::Cable.relay } to the config file"
      end

      def patch
        ::ActionCable::Server::Base.prepend(Patches::Server)
        ::ActionCable::Connection::Base.prepend(Patches::Connection)
        ::ActionCable::Channel::Base.prepend(Patches::Channel)
        return if ::ActionCable::Server.const_defined?(:Socket, false)

        ::ActionCable::Connection::Base.prepend(Patches::LegacyConnection)
      end
    end
  end
end
