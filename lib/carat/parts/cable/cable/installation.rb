# frozen_string_literal: true

require_relative "../cable"
require_relative "../../../config/config_error"
require_relative "patches/channel"
require_relative "patches/connection"
require_relative "patches/legacy_connection"
require_relative "patches/server"
require_relative "refusals"

module Carat
  module Cable
    # Prepares Action Cable of a loaded application for the option `cable`.
    class Installation
      # The adapter that passes broadcasts to the edge, and the adapter that Rails uses in tests.
      ADAPTERS = %w[carat test].freeze
      # The oldest version of Action Cable that works.
      OLDEST = "7.0"
      # The name of the process that listens to the broker.
      PROCESS = "cable"
      # How deep the routes of engines may be nested.
      DEPTH = 8
      private_constant :ADAPTERS, :OLDEST, :PROCESS, :DEPTH

      # `path` is the value of the option `cable`; `processes` are the processes of the config file.
      def initialize(path, processes)
        @path = path
        @processes = processes
      end

      # Raises ConfigError when the application cannot run with the option `cable`.
      def run
        check_library
        check_adapter
        check_broker
        check_routes
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

      # Raises Error when a broker is configured and no process listens to it. Cable.broker also loads the broker's
      # adapter, whose memory is then shared by all processes.
      def check_broker
        return if !Cable.broker || @processes[PROCESS]

        raise Error, "config/cable.yml passes broadcasts through #{Broker.through}, which no process of this server " \
                     "hears: add process(\"#{PROCESS}\", overlap: true) { Carat::Cable.relay } to the config file"
      end

      # Compares the routes with the option. No route at all is not an error: another Rack application may mount Action
      # Cable.
      def check_routes
        mounts = paths
        others = mounts.reject { |path| segments(path) == segments(@path) }
        return if others.empty?

        names = others.join(" and ")
        if others.size == mounts.size
          raise Error, "the routes lead to Action Cable at #{names}, not at #{@path}: name that path"
        end

        ::ActionCable.server.logger.warn("sockets at #{names} are refused: the option cable is #{@path}")
      end

      # The paths from which routes lead to Action Cable; none when the application does not use the routes of Rails.
      def paths
        application = ::Rails.application if defined?(::Rails.application)
        return [] unless application

        application.reload_routes_unless_loaded if application.respond_to?(:reload_routes_unless_loaded)
        below("", application.routes, DEPTH)
      end

      # The same paths below `prefix`. Engines have routes of their own, and may be nested to `depth`.
      def below(prefix, routes, depth)
        routes.routes.flat_map do |route|
          target = route.app.is_a?(::ActionDispatch::Routing::Endpoint) ? route.app.app : route.app
          path = prefix + route.path.spec.to_s.delete_suffix("(.:format)")
          next [path] if target.equal?(::ActionCable.server)

          depth.positive? && target.respond_to?(:routes) ? below(path, target.routes, depth - 1) : []
        end
      end

      # The segments of a path: Rails treats paths with the same segments as equal.
      def segments(path)
        path.split("/").reject(&:empty?)
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
