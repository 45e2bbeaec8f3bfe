# frozen_string_literal: true

require_relative "task"

module Carat
  class Reactor
    # Calls its block whenever an IO is ready, until the IO is closed.
    class Attachment < Task
      # The events of IO#wait by direction.
      EVENTS = { read: IO::READABLE, write: IO::WRITABLE }.freeze

      attr_reader :direction, :io

      # @param direction [Symbol] `:read` or `:write`
      def initialize(direction, io, callback)
        super(callback)
        @events = EVENTS.fetch(direction) { raise ArgumentError, "neither :read nor :write: #{direction.inspect}" }
        @direction = direction
        @io = io
      end

      private

      # Waits until the IO is ready. Other fibers run first, because an IO with bytes in Ruby's buffer is always ready
      # at once.
      def wait
        @scheduler.yield
        @io.wait(@events, nil) unless @over
      end

      def call(callback)
        callback.call(@io)
      end

      def repeats?
        true
      end
    end
  end
end
