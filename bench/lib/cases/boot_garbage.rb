# frozen_string_literal: true

module Bench
  # What a worker weighs whose application has dropped objects while it booted, beside one that has dropped none, and
  # what a request costs.
  class BootGarbage
    COUNTS = [0, 100_000, 300_000, 600_000].freeze

    # app, env: see Weight.
    def initialize(app, env: -> { {} })
      @app = app
      @env = env
    end

    def call(spec, options)
      runs = COUNTS.to_h do |count|
        variables = { **@env.call, "BENCH_BOOT_GARBAGE" => count.to_s }
        [count, Weight.new(@app, env: -> { variables }).call(spec, options)]
      end
      weights, costs = %i[loaded_private_mb cpu_us].map { |figure| runs.transform_values { |run| run[figure] } }
      failed = runs.values.sum { |run| run[:failed] }
      ratios = { ratio: over_none(weights), cpu_ratio: over_none(costs) }
      { **weights.transform_keys { |count| key(count) }, **ratios, failed: }
    end

    def self.key(count) = :"dropped_#{count}"

    private

    def key(count) = self.class.key(count)

    def over_none(figures) = figures.values.max.fdiv(figures.fetch(0))

    COLUMNS = [
      *COUNTS.map { |count| Column.new("private MB, #{Number.count(count)} dropped", key(count), places: 1) },
      Column.new("most x none", :ratio, places: 2, target: Target.at_most(1.1)),
      Column.new("CPU of a request, most x none", :cpu_ratio, places: 2, target: Target.at_most(1.03)),
      Column.new("failed", :failed, over: :sum, target: Target.at_most(0))
    ].freeze
    SERVERS = %w[carat-plain-w2 carat-once-w4 carat-default-w2].freeze
    private_constant :SERVERS

    CASES = [
      Case.new(name: "boot_garbage", title: "What a worker weighs for what the boot has left behind: 40 MB of objects",
               servers: SERVERS, measure: new("weight.ru"), columns: COLUMNS, needs: -> { SteadyLoad.obstacle }),
      Case.new(name: "rails_boot_garbage", servers: SERVERS, columns: COLUMNS,
               title: "What a worker weighs for what the boot has left behind: Rails with 20 models",
               measure: new("rails_weight.ru", env: Weight::DATABASE),
               needs: -> { Weight::RAILS.call || SteadyLoad.obstacle })
    ].freeze
  end
end
