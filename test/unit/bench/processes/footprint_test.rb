# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchFootprintTest < Minitest::Test
  MEGABYTE = 1 << 20

  def test_roles_have_their_number_and_median
    footprint = footprint("edge" => [2], "worker" => [3, 9, 4])

    assert_equal({ "edge" => [1, 2.0], "worker" => [3, 4.0] }, footprint.roles)
    assert_equal [18.0, 4.0, 2 * MEGABYTE], [footprint.pss_mb, footprint.worker_private_mb, footprint.front_pss]
  end

  def test_several_rounds_are_described_by_their_medians
    rounds = [[1, 3], [2, 5], [9, 4]].map { |edge, worker| footprint("edge" => [edge], "worker" => [worker] * 2).roles }

    assert_equal "edge 2.0, worker 2x 4.0", Bench::Footprint.describe(rounds)
  end

  private

  def footprint(sizes)
    members = sizes.each_with_index.to_h do |(role, list), depth|
      [role, list.map { |size| Bench::ProcessTree::Member.new(1, depth, "", memory(size)) }]
    end
    Bench::Footprint.new(members)
  end

  def memory(megabytes) = Bench::ProcFs::Memory.new(megabytes * MEGABYTE, megabytes * MEGABYTE)
end
