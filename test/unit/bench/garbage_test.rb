# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/bench"

# The cases of objects that boots and requests drop.
class BenchGarbageTest < Minitest::Test
  CASES = %w[boot_garbage rails_boot_garbage rails_refork_garbage].freeze
  # Weighs 10 MB, and for some count of dropped objects something else.
  class Scales < Bench::ReforkGarbage
    def initialize(weights)
      super("rails_weight.ru")
      @weights = weights
    end

    private

    def weigh(_spec, _options, count, _each) = @weights.fetch(count, 10.0)
  end

  def test_each_weighs_up_to_600_000_dropped_objects
    headings = ["0", "100 000", "300 000", "600 000"].map { |count| "private MB, #{count} dropped" }
    Bench::Cases.named(CASES).each { |it| assert_equal headings, it.columns.map(&:heading).first(4), it.name }
  end

  def test_the_ratio_is_that_of_the_heaviest_worker
    options = Struct.new(:quick).new(false)

    assert_in_delta 1.2, Scales.new({ 100_000 => 12.0 }).call(nil, options).fetch(:ratio)
    assert_equal [10.0, 10.0, 11.0, 10.5, 1.1],
                 Scales.new({ 300_000 => 11.0, 600_000 => 10.5 }).call(nil, options).values
  end
end
