# frozen_string_literal: true

require "json"
require_relative "../cable"

module Carat
  module Cable
    # The actions of a handshake or a command that the edge carries out. The edge gets them when the command has ended.
    class Result
      # The most bytes of all texts and names in one result. As JSON they are at most twice as long, and the edge takes
      # 4 MiB.
      OUTPUT_LIMIT = 2_000_000
      # How many bytes JSON needs between two texts.
      SEPARATORS = 16
      private_constant :SEPARATORS

      CURRENT = :carat_cable_result
      private_constant :CURRENT

      # The result that takes the broadcasts of this fiber, or nil. Threads that a command starts have no result, since
      # they may outlive the command.
      def self.current
        Thread.current[CURRENT]
      end

      def initialize
        @fields = {}
        @bytes = 0
      end

      # Runs a block whose broadcasts become part of this result. Afterwards the result refuses everything more.
      def collect
        Thread.current[CURRENT] = self
        yield
      ensure
        Thread.current[CURRENT] = nil
        @ended = true
      end

      # Sets a field that the edge reads: :connection, :internal, :subscription, :state, :timers.
      def []=(field, value)
        @fields[field] = value
      end

      # Returns the value of a field, or nil.
      def [](field)
        @fields[field]
      end

      # Sends a text to the client.
      def transmit(text)
        list(:send, text.bytesize) << text unless closed?
      end

      # Sends `payload` to the subscribers of `stream`.
      def broadcast(stream, payload)
        list(:broadcasts, stream.bytesize + payload.bytesize) << [stream, payload]
      end

      # Subscribes the client to `stream`.
      def start(stream)
        list(:start, stream.bytesize) << stream
      end

      # Ends the client's subscription to `stream`. The edge carries out all ends before it starts other streams.
      def stop(stream)
        @fields[:start]&.delete(stream)
        list(:stop, stream.bytesize) << stream
      end

      # Ends all streams of the subscription.
      def stop_all
        @fields.delete(:start)
        @fields.delete(:stop)
        @fields[:stop_all] = true
      end

      # Closes the socket. The reason of the first call counts.
      def close(reason, reconnect)
        @fields[:close] ||= { reason:, reconnect: }
      end

      # Whether the socket is to be closed.
      def closed?
        @fields.key?(:close)
      end

      # Notes that an exception has ended the command.
      def fail
        @failed = true
      end

      # Whether an exception has ended the command.
      def failed?
        @failed
      end

      # Sends the broadcasts of a command that has ended to the broker, if there is one. The edge gets them from the
      # broker, like those of other servers.
      def publish
        return unless (broker = Cable.broker)

        @fields.delete(:broadcasts)&.each { |stream, payload| broker.broadcast(stream, payload) }
      end

      # Returns the result as Rack's response. A command that failed has a result, too: as with Action Cable, what it
      # did before it failed counts.
      def response
        # Middleware does not change a response with these headers.
        fields = { "content-type" => "application/vnd.carat.cable+json", "cache-control" => "no-store, no-transform" }
        [failed? ? 500 : 200, fields, [JSON.generate(@fields)]]
      end

      private

      # Returns the list of a field, for a text of `bytes` bytes. Raises Error when the result has ended or is full.
      def list(field, bytes)
        raise Error, "a command has ended: broadcast what comes later" if @ended

        @bytes += bytes + SEPARATORS
        raise Error, "one command sends more than #{OUTPUT_LIMIT} bytes" if @bytes > OUTPUT_LIMIT

        @fields[field] ||= []
      end
    end
  end
end
