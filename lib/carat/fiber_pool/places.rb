# frozen_string_literal: true

module Carat
  class FiberPool
    # The places of a pool in one process: a forked one has none of the jobs.
    class Places
      def initialize(size)
        @size = size
        @process = Process.pid
        @taken = Thread::SizedQueue.new(size)
        @held = 0
        @draining = Thread::Mutex.new
      end

      # Takes a place; waits for one if all are taken.
      def take
        @taken.push(true)
      end

      # Gives a place back.
      def leave
        @taken.pop
      end

      # Returns when whoever has taken a place, or waits for one, has given it back.
      def drain
        @draining.synchronize do
          @size.times { take.then { @held += 1 } }
        ensure
          @held.times { leave }
          @held = 0
        end
      end

      # How many are taken by jobs.
      def count
        @taken.size - @held
      end

      # Whether they are of this process.
      def here?
        @process == Process.pid
      end
    end
  end
end
