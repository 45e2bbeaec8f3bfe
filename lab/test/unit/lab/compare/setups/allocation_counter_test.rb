# frozen_string_literal: true

require "fileutils"
require "minitest/autorun"
require "tmpdir"
require "carat/lab/compare/setups/allocation_counter"
require "carat/processes/heap/heap_room"

module Carat
  class AllocationCounterTest < Minitest::Test
    RACKUP = "run ->(_env) { Array.new(10) { Object.new }; [200, {}, []] }\n"

    def setup
      @directory = Dir.mktmpdir
      @rackup = File.join(@directory, "config.ru")
      File.write(@rackup, RACKUP)
    end

    def teardown
      FileUtils.remove_entry(@directory)
    end

    def test_objects_a_request_are_exact
      app = counter.wrap(@rackup, @directory)
      512.times { app.call({}) }
      before = counter.read(@directory)
      1024.times { app.call({}) }

      # 10 objects, the Array of them, the environment, the response, its Hash, and its body; each write adds a few.
      assert_in_delta 15, counter.per_request(before, counter.read(@directory)), 0.1
    end

    def test_objects_with_which_the_heap_is_extended_do_not_count
      app = counter.wrap(@rackup, @directory)
      512.times { app.call({}) }
      before = counter.read(@directory)
      Processes::HeapRoom.objects += Processes::Collections.new.extend(200_000, 40)
      512.times { app.call({}) }

      assert_in_delta 15, counter.per_request(before, counter.read(@directory)), 0.2
    end

    def test_slow_application_is_counted_too
      app = counter.wrap(@rackup, @directory)
      app.call({})
      before = counter.read(@directory)
      3.times { app.call({}) }

      assert_equal({ Process.pid => 4 }, counter.read(@directory).transform_values(&:first))
      assert_operator counter.per_request(before, counter.read(@directory)), :>=, 15
    end

    def test_fork_counts_for_itself
      app = counter.wrap(@rackup, @directory)
      app.call({})
      pid = fork do
        app.call({})
        exit!(0)
      end
      Process.wait(pid)

      assert_equal({ Process.pid => 1, pid => 2 }, counter.read(@directory).transform_values(&:first))
    end

    def test_processes_that_came_or_went_do_not_count
      before = { 1 => [10, 100], 2 => [20, 200] }
      after = { 2 => [30, 400], 3 => [5, 5000] }

      assert_in_delta 20.0, counter.per_request(before, after)
      assert_nil counter.per_request(before, before)
      assert_nil counter.per_request({}, after)
    end

    def test_directory_that_cannot_be_written_does_not_disturb_the_application
      app = counter.wrap(@rackup, File.join(@directory, "missing"))

      assert_equal [200, {}, []], app.call({})
    end

    private

    def counter
      Lab::Compare::AllocationCounter
    end
  end
end
