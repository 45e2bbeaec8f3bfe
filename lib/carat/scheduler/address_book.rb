# frozen_string_literal: true

require "socket"
require_relative "../native"

module Carat
  class Scheduler < Native::Scheduler
    # Looks names up in threads of their own: the C library's resolver blocks the thread that asks. Those who ask for
    # the same name at the same time get the same answer.
    class AddressBook
      # How many look-ups run at once; the others wait for their turn.
      THREADS_LIMIT = 16

      def initialize
        start_over
      end

      # Returns the addresses of a host as Strings, or nil when there are none.
      def resolve(name)
        start_over unless @pid == Process.pid
        lookup = @lookups[name] ||= Lookup.new(name, @places)
        lookup.addresses
      ensure
        @lookups.delete(name) if lookup.equal?(@lookups[name])
      end

      private

      # What was looked up when the process was forked, its parent goes on with.
      def start_over
        @pid = Process.pid
        @places = Thread::SizedQueue.new(THREADS_LIMIT)
        @lookups = {}
      end

      # One look-up, for all who ask before it is over. When the one who began it is interrupted, the next one does it.
      class Lookup
        def initialize(name, places)
          @name = name
          @places = places
          @mutex = Mutex.new
          @found = nil
        end

        def addresses
          @mutex.synchronize { @found ||= [find] }.first
        end

        private

        # An answer cannot be hurried: the thread keeps its place until it comes, even if nobody waits for it any more.
        def find
          @places.push(true)
          begin_look_up.value
        end

        def begin_look_up
          Thread.new do
            look_up
          ensure
            @places.pop
          end
        rescue ThreadError
          @places.pop
          raise
        end

        def look_up
          Addrinfo.getaddrinfo(@name, nil, nil, :STREAM).map(&:ip_address).uniq
        rescue SocketError
          nil
        end
      end

      private_constant :Lookup
    end
  end
end
