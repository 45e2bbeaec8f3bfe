# frozen_string_literal: true

require_relative "../clocks"
require_relative "../lab_error"
require_relative "profile_json"

module Carat
  module Lab
    module Profile
      # A profile of this process by clocks, while it is taken.
      class TimeRecording
        # The clocks by their bits.
        CLOCKS = { 1 => :cpu, 2 => :wall, 4 => :gvl }.freeze

        # Microseconds of a clock for which one sample stands, unless somebody wants another number: not a divisor of
        # what programs wait for.
        INTERVAL = 10_101
        private_constant :INTERVAL

        # Begins: one in `interval` microseconds of each of the `clocks`, a sum of bits, is a sample. Raises LabError.
        def initialize(clocks, interval)
          obstacle = Clocks.obstacle(clocks)
          raise LabError, obstacle if obstacle

          @clocks = CLOCKS.filter_map { |bit, name| name if clocks.anybits?(bit) }
          @interval = interval || INTERVAL
          @began = now
          raise LabError, "another profile is under way" unless Clocks.start(clocks, @interval)
        end

        # Ends, and returns a JSON object.
        def finish(**details)
          seconds = now - @began
          functions, callers, calls, cpu, wall, gvl, *rest, truncated = Clocks.stop
          samples = CLOCKS.values.zip(rest.shift(CLOCKS.size)).to_h.slice(*@clocks)
          lost, *times = rest
          sums = %i[cpu_seconds waited_seconds ran_seconds].zip(times.map { |time| time.round(6) }).to_h
          head = details.merge(seconds: seconds.round(3), clocks: @clocks, interval: @interval, samples:, lost:,
                               truncated:, **sums)
          ProfileJSON.generate(head, functions, callers:, calls:, cpu:, wall:, gvl:)
        end

        private

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
