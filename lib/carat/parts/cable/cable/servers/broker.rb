# frozen_string_literal: true

require "json"
require "monitor"
require_relative "../../cable"

module Carat
  module Cable
    # What connects several servers: the adapter of Action Cable that the key `through` of config/cable.yml names. All
    # broadcasts take one of its channels, so that a Relay hears them in order. For the adapter, this object is the
    # server of Action Cable.
    class Broker
      CHANNEL = "carat"
      # Adapters that reach this process alone.
      LOCAL = %w[async carat inline test].freeze
      private_constant :CHANNEL, :LOCAL

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

      # The adapter, and what it asks of a server: its ActionCable::Server::Configuration, and a lock.
      attr_reader :adapter, :config, :mutex

      # `name` is that of an adapter. Raises Error when it connects nobody, or cannot be loaded.
      def initialize(name)
        raise Error, "config/cable.yml: through #{name} reaches one process only" if LOCAL.include?(name)

        @config = ::ActionCable.server.config.dup
        @config.cable = @config.cable.except("adapter", "through").merge("adapter" => name)
        @mutex = Monitor.new
        @adapter = load(name).new(self)
      end

      # Sends a broadcast to the relays of all servers.
      def broadcast(stream, payload)
        publish([stream, payload])
      end

      # Sends a message, which JSON can carry, to the channel.
      def publish(message)
        @adapter.broadcast(CHANNEL, JSON.generate(message))
      end

      # Calls `heard` with each message of the channel, a String, in the thread that reads them, and `ready` once
      # messages come.
      def subscribe(heard, ready)
        @adapter.subscribe(CHANNEL, heard, ready)
      end

      # The log of the application.
      def logger
        @config.logger
      end

      # The object with which adapters, before Rails 8.2 and since, run callbacks. The pool of Action Cable would lose
      # their order.
      def event_loop
        self
      end
      alias executor event_loop

      # Runs a callback of the adapter.
      def post(task = nil, &block)
        (task || block).call
      end

      private

      def load(name)
        @config.pubsub_adapter
      rescue LoadError, NameError => e
        raise Error, "config/cable.yml: through #{name}: #{e.message}"
      end
    end
  end
end
