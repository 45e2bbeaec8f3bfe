# frozen_string_literal: true

require "json"
require "monitor"
require_relative "../../cable"

module Carat
  module Cable
    # The connection between several servers, through the adapter of Action Cable that the key `through` of
    # config/cable.yml names. All broadcasts go through one channel of the adapter, so that a Relay gets them in order.
    # For the adapter, this object is the server of Action Cable.
    class Broker
      CHANNEL = "carat"
      # Adapters that reach no other process.
      LOCAL = %w[async carat inline test].freeze
      private_constant :CHANNEL, :LOCAL

      class << self
        # Returns the broker of this process, or nil when config/cable.yml names none. A forked process makes its own
        # broker, because processes cannot share connections.
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

      # The adapter, and two things that it asks of a server: its ActionCable::Server::Configuration, and a lock.
      attr_reader :adapter, :config, :mutex

      # `name` is the name of an adapter. Raises Error when the adapter reaches one process only, or cannot be loaded.
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

      # Sends a message, a value that JSON can carry, to the channel.
      def publish(message)
        @adapter.broadcast(CHANNEL, JSON.generate(message))
      end

      # Calls `heard` with each message of the channel, a String, in the thread of the adapter that reads the messages.
      # Calls `ready` once the subscription has begun.
      def subscribe(heard, ready)
        @adapter.subscribe(CHANNEL, heard, ready)
      end

      # The log of the application.
      def logger
        @config.logger
      end

      # Returns the object with which adapters run callbacks: `event_loop` before Rails 8.2, `executor` since. This
      # object runs them one by one; the thread pool of Action Cable would lose their order.
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
