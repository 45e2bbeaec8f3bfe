# frozen_string_literal: true

require_relative "../ledger"
require_relative "program"

module Carat
  module Lab
    module InProcess
      # The program of `carat ips`: times batches of requests to each path, in turn.
      class IterationCount < Program
        # Seconds of a batch, if an iteration takes less.
        BATCH_SECONDS = 0.1

        # Seconds before the batches, as a share of their time.
        WARM_UP_SHARE = 0.4
        private_constant :BATCH_SECONDS, :WARM_UP_SHARE

        # A path: its endpoint, the iterations of a batch, and for each batch the seconds, the nanoseconds of garbage
        # collection, and the objects and bytes that were allocated.
        Course = Struct.new(:path, :endpoint, :iterations, :batches)

        private

        def measure
          @courses = @targets.zip(endpoints).map { |target, endpoint| Course.new(target, endpoint, 1, []) }
          @report.step("warm-up")
          @courses.each_with_index { |course, index| warm_up(course, index) }
          @report.step("iterations")
          rounds
        end

        # Also finds out how many iterations a batch has.
        def warm_up(course, index)
          ends = now + (@number * WARM_UP_SHARE)
          loop do
            seconds, = batch(course)
            course.iterations = (course.iterations * BATCH_SECONDS / seconds).clamp(1, course.iterations * 10).round
            @report.advance((index + 1 - ((ends - now).clamp(0, @number) / @number)) / @courses.size)
            break if now >= ends
          end
        end

        # Paths take turns, so that what disturbs the machine disturbs all of them.
        def rounds
          spent = 0
          while spent < @number
            @courses.each { |course| course.batches << batch(course) }
            spent = @courses.map { |course| course.batches.sum(&:first) }.min
            @report.advance([spent / @number, 1].min)
          end
        end

        def batch(course)
          endpoint = course.endpoint
          before = counters
          course.iterations.times { endpoint.call }
          counters.zip(before).map { |after, earlier| after - earlier }
        end

        def counters
          [now, GC.total_time, GC.stat(:total_allocated_objects), Ledger.allocated_bytes]
        end

        def result(interrupted:)
          { interrupted:, jit: Processes::JIT.name, malloc: !Ledger.allocated_bytes.zero?,
            paths: (@courses || []).map { |course| course.to_h.except(:endpoint) } }
        end
      end
    end
  end
end
