# frozen_string_literal: true

require "json"
require_relative "../../cable"

module Carat
  module Cable
    # What connects several servers: the adapter of Action Cable that the key `through` of config/cable.yml names, as if
    # it were the application's. All broadcasts take one channel of it, so that a Relay hears them in their order.
    class Broker < ::ActionCable::Server::Base
      CHANNEL = "carat"
      # Adapters that reach this process alone.
      LOCAL = %w[async carat inline test].freeze
      private_constant :LOCAL

      class << self
        # Returns the broker of this process, nil when config/cable.yml names none. A forked process has one of its own:
        # connections are not shared.
        def current
          return unless (adapter = through)

          @current = new(adapter) unless @pid == Process.pid
          @pid = Process.pid
          @current
        end

        # Returns the name of the adapter, or nil.
        def through
          ::ActionCable.server.config.cable&.[]("through")
        end
      end

      # `adapter` is the name of one. Raises Error when it connects nobody, or cannot be loaded.
      def initialize(adapter)
        raise Error, "config/cable.yml: through #{adapter} reaches one process only" if LOCAL.include?(adapter)

        config = ::ActionCable.server.config.dup
        config.cable = config.cable.except("adapter", "through").merge("adapter" => adapter)
        super(config:)
        config.pubsub_adapter
      rescue LoadError, NameError => e
        raise Error, "config/cable.yml: through #{adapter}: #{e.message}"
      end

      # Sends a broadcast to the relays of all servers.
      def broadcast(stream, payload)
        publish([stream, payload])
      end

      # Sends a message, which JSON can carry, to the channel.
      def publish(message)
        pubsub.broadcast(CHANNEL, JSON.generate(message))
      end

      # Calls `heard` with each message of the channel, a String, in the thread that reads them, and `ready` once they
      # come.
      def subscribe(heard, ready)
        pubsub.subscribe(CHANNEL, heard, ready)
      end

      # What adapters, before Rails 8.2 and since, run callbacks with. The pool of Action Cable would lose their order.
      def event_loop
        self
      end
      alias executor event_loop

      # Runs a callback of the adapter.
      def post(task = nil, &block)
        (task || block).call
      end
    end
  end
end
