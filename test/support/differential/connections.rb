# frozen_string_literal: true

require "socket"
require_relative "../eventually"

module Support
  module Differential
    # Sends each case on a connection of its own, many of them at a time, and reads until the other side closes.
    class Connections
      AT_ONCE = 150
      READ_BYTES = 16 * 1024

      # One connection: what is still to be sent, and what has come.
      Exchange = Struct.new(:socket, :number, :unsent, :received)

      # @param port [Integer] on 127.0.0.1
      # @param letter [String] whom the bytes are for; see Case
      def initialize(port, letter)
        @port = port
        @letter = letter
        @open = {}
        @received = {}
      end

      # Returns what came, by the number of the case.
      # @raise [Eventually::TooLate] when not all connections have been closed in time
      def run(cases, within:)
        deadline = Eventually.now + within
        waiting = cases.dup
        until waiting.empty? && @open.empty?
          open(waiting.shift) while waiting.any? && @open.size < AT_ONCE
          step(deadline)
        end
        @received
      end

      private

      def open(test_case)
        socket = Socket.tcp("127.0.0.1", @port)
        @open[socket] = Exchange.new(socket, test_case.number, test_case.bytes(@letter), "".b)
      end

      def step(deadline)
        left = deadline - Eventually.now
        writers = @open.each_value.reject { |exchange| exchange.unsent.empty? }.map(&:socket)
        readable, writable = left.positive? && IO.select(@open.keys, writers, [], left)
        raise Eventually::TooLate, "open: #{@open.each_value.map(&:number)}" unless readable

        writable.each { |socket| send_some(@open[socket]) }
        readable.each { |socket| receive(@open[socket]) }
      end

      def send_some(exchange)
        sent = exchange.socket.write_nonblock(exchange.unsent, exception: false)
        exchange.unsent.slice!(0, sent) unless sent == :wait_writable
      rescue Errno::EPIPE, Errno::ECONNRESET
        exchange.unsent.clear
      end

      def receive(exchange)
        bytes = exchange.socket.read_nonblock(READ_BYTES, exception: false)
        return if bytes == :wait_readable

        bytes ? exchange.received << bytes : finish(exchange)
      rescue Errno::ECONNRESET
        finish(exchange)
      end

      def finish(exchange)
        exchange.socket.close
        @open.delete(exchange.socket)
        @received[exchange.number] = exchange.received
      end
    end
  end
end
