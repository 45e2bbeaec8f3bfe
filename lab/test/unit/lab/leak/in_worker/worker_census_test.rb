# frozen_string_literal: true

require "minitest/autorun"
require "minitest/mock"
require "carat/lab/leak/in_worker/worker_census"

module Carat
  module Lab
    module Leak
      # Which sample of the process belongs to which census of its heap.
      class WorkerCensusTest < Minitest::Test
        MUCH = 100_000
        MIB = 1024 * 1024

        def test_readings_are_taken_again_when_a_table_grew_between_them
          assert_equal [:second, MUCH], readings(0, MUCH, MUCH)
        end

        def test_a_little_room_more_changes_nothing
          assert_equal [:first, 1000], readings(0, 1000, MUCH)
        end

        def test_readings_of_a_heap_that_does_not_come_to_rest_end
          assert_equal [:third, 3 * MUCH], readings(0, MUCH, 2 * MUCH, 3 * MUCH, 4 * MUCH)
        end

        def test_what_a_compiler_notes_about_its_code_is_not_live
          none, much = [0, 80 * MIB].map do |metadata|
            Processes::JIT.stub(:to_h, { metadata: }) { WorkerCensus.take.fetch(:live) }
          end

          assert_operator much, :<, none - (99 * MIB)
        end

        def test_what_ruby_notes_of_empty_pages_is_not_live
          before = WorkerCensus.take
          Array.new(300) { Array.new(1000) { Object.new } }.clear
          after = WorkerCensus.take

          assert_in_delta before.fetch(:live), after.fetch(:live), 80 * 1024
        end

        private

        # The sample, and the spare room of the census that belongs to it; `spares` is what each census finds.
        def readings(*spares)
          samples = %i[first second third fourth]
          Heap.stub(:census, -> { [1, 40, spares.shift] }) do
            ProcessSample.stub(:take, -> { samples.shift }) do
              sample, census = WorkerCensus.readings
              [sample, census.last]
            end
          end
        end
      end
    end
  end
end
