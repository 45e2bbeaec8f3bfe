# frozen_string_literal: true

require "socket"

module Carat
  class Scheduler < Native::Scheduler
    # Looks names up in threads of their own: the C library's resolver blocks the thread that asks.
    class AddressBook
      # How many look-ups run at once; the others wait for their turn.
      THREADS_LIMIT = 16

      def initialize
        @places = Thread::SizedQueue.new(THREADS_LIMIT)
      end

      # Returns the addresses of a host as Strings, or nil when there are none.
      def resolve(name)
        @places.push(true)
        begin
          Thread.new { look_up(name) }.value
        ensure
          @places.pop
        end
      end

      private

      def look_up(name)
        Addrinfo.getaddrinfo(name, nil, nil, :STREAM).map(&:ip_address).uniq
      rescue SocketError
        nil
      end
    end
  end
end
