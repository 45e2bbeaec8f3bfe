# frozen_string_literal: true

require "socket"
require_relative "../../../native"

module Carat
  class Scheduler < Native::Scheduler
    # Looks up host names in threads, because the resolver of the C library blocks the calling thread. Fibers that ask
    # for the same name at the same time share one lookup.
    class AddressBook
      # How many lookups run at once. Further ones wait.
      THREADS_LIMIT = 16

      def initialize
        start_over
      end

      # @param name [String] the name of a host
      # @return [Array<String>, nil] its addresses, or nil when there are none
      def resolve(name)
        start_over unless @pid == Process.pid
        lookup = @lookups[name] ||= Lookup.new(name, @slots)
        lookup.addresses
      ensure
        @lookups.delete(name) if lookup.equal?(@lookups[name])
      end

      private

      # Forgets the lookups: after a fork, those under way belong to the parent.
      def start_over
        @pid = Process.pid
        @slots = Thread::SizedQueue.new(THREADS_LIMIT)
        @lookups = {}
      end

      # One lookup, shared by all fibers that ask before it ends. When the fiber that looks the name up is interrupted,
      # the next fiber starts again.
      class Lookup
        def initialize(name, slots)
          @name = name
          @slots = slots
          @mutex = Mutex.new
          @found = nil
        end

        # Waits for the addresses, and returns them as Strings, or nil.
        def addresses
          @mutex.synchronize { @found ||= [find] }.first
        end

        private

        # Looks the name up in a thread. No lookup can be cancelled, so the thread keeps its slot until the resolver
        # returns.
        def find
          @slots.push(true)
          begin_lookup.value
        end

        def begin_lookup
          Thread.new do
            look_up
          ensure
            @slots.pop
          end
        rescue ThreadError
          @slots.pop
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
