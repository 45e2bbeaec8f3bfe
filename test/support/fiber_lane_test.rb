# frozen_string_literal: true

require "carat/parts/fibers/fiber_lane"
require_relative "eventually"
require_relative "native_test"

module Support
  # A test of a lane whose requests run in fibers and wait for values that the test pushes into `@gates`.
  class FiberLaneTest < NativeTest
    include Eventually

    def setup
      super
      # The thread of the test and that of the lane may ask for the same one at once.
      making = Mutex.new
      @gates = Hash.new { |gates, path| making.synchronize { gates.fetch(path) { gates[path] = Queue.new } } }
    end

    # Computes for some time without a wait, then responds.
    def self.compute(seconds)
      done = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
      nil until Process.clock_gettime(Process::CLOCK_MONOTONIC) > done
      [200, {}, []]
    end

    private

    def fibers(app, capacity: 16, release: "2.2.0", **options)
      harness(app, release: release).start_fibers(capacity, **options)
    end
  end
end
