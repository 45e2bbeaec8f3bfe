# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchProcessReadingsTest < Minitest::Test
  def test_growth_is_that_of_an_hour_without_the_first_quarter
    edge = growth("edge" => { 1 => Array.new(100) { |number| number < 25 ? 50 : number / 60.0 } }).fetch("edge")

    assert_equal [1, 75], edge.values_at(:processes, :readings)
    assert_in_delta 1.0, edge[:private_mb][:per_hour]
    assert_in_delta 0.0, edge[:private_mb][:margin]
    assert_in_delta 0.475, edge[:private_mb][:from], 0.001
    assert_equal [25.0, 99.0], edge[:minutes]
  end

  def test_workers_of_a_generation_have_one_slope_and_a_base_each
    sizes = { 1 => Array.new(40) { |number| 10 + number }, 2 => Array.new(40) { |number| 90 + number } }
    worker = growth("worker gen=2" => sizes).fetch("worker gen=2")

    assert_equal 2, worker[:processes]
    assert_in_delta 3600.0, worker[:private_mb][:per_hour]
  end

  def test_a_process_that_was_there_for_a_moment_does_not_count
    assert_empty growth("worker gen=1" => { 1 => [1] * 19 })
  end

  def test_a_running_process_is_read_with_its_role_and_generation
    readings = Bench::ProcessReadings.new
    memory = Bench::ProcFs.memory(Process.pid)
    members = { "edge" => [member("carat-edge", memory)], "mold" => [member("carat: mold gen=3", memory)] }
    server = Struct.new(:members_by_role).new(members)

    assert_equal({ "edge" => 1, "mold" => 1 }, Array.new(20) { |second| readings.read(server, second) }.last)
    assert_equal ["edge", "mold gen=3"], readings.growth.keys
    assert_operator readings.growth["edge"][:threads][:from], :>=, 1
  end

  private

  def member(title, memory) = Bench::ProcessTree::Member.new(Process.pid, 0, title, memory)

  # groups: group => pid => megabytes of each minute, or of each second for several processes.
  def growth(groups)
    readings = Bench::ProcessReadings.new
    groups.each do |group, sizes|
      step = sizes.one? ? 60 : 1
      sizes.each do |pid, list|
        list.each_with_index { |mb, index| readings.add(reading(group, pid, index * step, mb)) }
      end
    end
    readings.growth
  end

  def reading(group, pid, seconds, megabytes)
    Bench::ProcessReadings::Reading.new(seconds: seconds, group: group, pid: pid, pss_mb: megabytes,
                                        private_mb: megabytes, descriptors: 1, threads: 1)
  end
end
