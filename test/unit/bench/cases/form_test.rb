# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchFormTest < Minitest::Test
  UPLOAD = { started: 10.0, sent: 12.0, ended: 13.0 }.freeze

  def test_probes_are_told_apart_by_what_they_met
    probes = [[9.9, 0.2, 4], [10.5, 0.1, 4], [11.9, 0.4, 4], [12.5, 0.3, 4], [13.1, 0.6, 4]]

    assert_equal [[[10.5, 0.1, 4]], [[11.9, 0.4, 4], [12.5, 0.3, 4]]], Bench::Form.split(probes, UPLOAD)
  end
end
