# frozen_string_literal: true

require "json"
require_relative "../cable"

module Carat
  module Cable
    # What a handshake or a command makes the edge do with a socket. The result leaves when the command has ended.
    class Result
      # Bytes of all texts and names in one result, which JSON at most doubles: the edge takes 4 MiB.
      OUTPUT_LIMIT = 2_000_000
      # Bytes that JSON puts between two texts.
      SEPARATORS = 16
      private_constant :SEPARATORS

      CURRENT = :carat_cable_result
      private_constant :CURRENT

      # The result to which broadcasts of this fiber belong, or nil. Threads that a command starts have no result,
      # since they may outlive the command.
      def self.current
        Thread.current[CURRENT]
      end

      def initialize
        @fields = {}
        @bytes = 0
      end

      # Runs a block whose broadcasts belong to this result, which then takes nothing more.
      def collect
        Thread.current[CURRENT] = self
        yield
      ensure
        Thread.current[CURRENT] = nil
        @ended = true
      end

      # Sets a field of the contract with the edge: :connection, :internal, :subscription, :state, :timers.
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

      # Lets the subscription hear `stream`.
      def start(stream)
        list(:start, stream.bytesize) << stream
      end

      # Ends that stream again. The edge stops streams before it starts others.
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

      # Closes the socket; the first reason counts.
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

      # Broadcasts of a command that has ended go to the broker, if there is one: they come back from it.
      def publish
        return unless (broker = Cable.broker)

        @fields.delete(:broadcasts)&.each { |stream, payload| broker.broadcast(stream, payload) }
      end

      # Returns the result as Rack's response. The edge carries out what a failed command did before it failed, as
      # Action Cable does.
      def response
        # Middleware leaves such a response alone.
        fields = { "content-type" => "application/vnd.carat.cable+json", "cache-control" => "no-store, no-transform" }
        [failed? ? 500 : 200, fields, [JSON.generate(@fields)]]
      end

      private

      # Returns the list that a text of `bytes` joins.
      def list(field, bytes)
        raise Error, "a command has ended: broadcast what comes later" if @ended

        @bytes += bytes + SEPARATORS
        raise Error, "one command sends more than #{OUTPUT_LIMIT} bytes" if @bytes > OUTPUT_LIMIT

        @fields[field] ||= []
      end
    end
  end
end
