# frozen_string_literal: true

require "carat/processes/heap/cpu_load"
require "test_helper"

module Carat
  class CpuLoadTest < Minitest::Test
    def setup
      @wall = @cpu = 0.0
      @load = Processes::CpuLoad.new { [@wall, @cpu] }
    end

    def test_the_load_is_that_of_the_last_seconds
      20.times { pass(0.5, 0.5) }
      2.times { pass(1, 0.25) }
      assert_equal 25, @load.percent
    end

    def test_without_a_measurement_it_is_that_of_all_the_time
      assert_equal 0, @load.percent
      @wall = 4.0
      @cpu = 3.0
      assert_equal 75, @load.percent
    end

    def test_threads_that_need_no_lock_of_ruby_count_as_one_processor
      pass(2, 5)
      assert_equal 100, @load.percent
    end

    def test_the_clocks_are_those_of_this_process
      load = Processes::CpuLoad.new
      assert_includes 0..100, load.percent
    end

    private

    def pass(wall, cpu)
      @wall += wall
      @cpu += cpu
      @load.note
    end
  end
end
