# frozen_string_literal: true

module Carat
  module Lab
    module Load
      # What the processes of a server use during a load.
      class Usage
        # One look at them: seconds since the load began, PSS in bytes, CPU seconds so far, and how many they are.
        Point = Struct.new(:seconds, :pss, :cpu_seconds, :processes)

        # Looks during a load.
        POINTS = 20
        SHORTEST = 0.25
        private_constant :POINTS, :SHORTEST

        # The Points so far.
        attr_reader :points

        # `tree` is a ProcessTree, `seconds` are those of the load.
        def initialize(tree, seconds)
          @tree = tree
          @seconds = seconds
          @interval = [seconds.fdiv(POINTS), SHORTEST].max
          @points = []
        end

        # Looks at the processes if it is time.
        def tick(seconds)
          return finish(seconds) if seconds >= @seconds

          look(seconds) if points.empty? || seconds - points.last.seconds >= @interval
        end

        # Looks at the processes at the end of the load, in place of a look just before, and at nothing that follows:
        # the last interval would be one of rest in part.
        def finish(seconds)
          return if points.any? && points.last.seconds >= @seconds

          points.pop if points.size > 1 && seconds - points.last.seconds < @interval / 2
          look(seconds)
        end

        # Returns the CPU seconds between the first and the last look.
        def cpu_seconds
          points.last.cpu_seconds - points.first.cpu_seconds
        end

        # Returns the PSS of all looks in bytes; nil when this user may not read it.
        def pss
          values = points.map(&:pss)
          values unless values.include?(nil)
        end

        private

        def look(seconds)
          points << Point.new(seconds, @tree.pss, @tree.cpu_seconds, @tree.pids.size)
        end
      end
    end
  end
end
