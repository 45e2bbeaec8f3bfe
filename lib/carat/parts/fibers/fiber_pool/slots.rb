# frozen_string_literal: true

module Carat
  class FiberPool
    # The slots of a pool in one process. A forked process needs its own, because it runs none of the parent's jobs.
    class Slots
      def initialize(size)
        @size = size
        @process = Process.pid
        @taken = Thread::SizedQueue.new(size)
        @held = 0
        @draining = Thread::Mutex.new
      end

      # Takes a slot, and waits for one if all are taken.
      def take
        @taken.push(true)
      end

      # Frees a slot.
      def leave
        @taken.pop
      end

      # Waits until all jobs that have a slot, or wait for one, have ended: it takes every slot, and frees them again.
      def drain
        @draining.synchronize do
          @size.times { take.then { @held += 1 } }
        ensure
          @held.times { leave }
          @held = 0
        end
      end

      # How many slots jobs have taken.
      def count
        @taken.size - @held
      end

      # Whether the slots belong to this process.
      def here?
        @process == Process.pid
      end
    end
  end
end
