# frozen_string_literal: true

module Bench
  # What a worker weighs whose application has dropped objects while it booted, beside one that has dropped none.
  class BootGarbage
    COUNTS = [0, 100_000, 300_000, 600_000].freeze
    MOST = Target.at_most(1.1)

    def call(spec, options)
      runs = COUNTS.to_h do |count|
        variables = { "BENCH_BOOT_GARBAGE" => count.to_s }
        [count, Weight.new("weight.ru", env: -> { variables }).call(spec, options)]
      end
      weights = runs.transform_values { |run| run[:loaded_private_mb] }
      failed = runs.values.sum { |run| run[:failed] }
      { **weights.transform_keys { |count| key(count) }, ratio: weights.values.max.fdiv(weights.fetch(0)), failed: }
    end

    def self.key(count) = :"dropped_#{count}"

    private

    def key(count) = self.class.key(count)

    COLUMNS = [
      *COUNTS.map { |count| Column.new("private MB, #{Number.count(count)} dropped", key(count), places: 1) },
      Column.new("most x none", :ratio, over: :max, places: 2, target: MOST),
      Column.new("failed", :failed, over: :sum, target: Target.at_most(0))
    ].freeze

    CASES = [
      Case.new(name: "boot_garbage", title: "What a worker weighs for what the boot has left behind",
               servers: %w[carat-plain-w2 carat-default-w2], measure: new, columns: COLUMNS,
               needs: -> { SteadyLoad.obstacle })
    ].freeze
  end
end
