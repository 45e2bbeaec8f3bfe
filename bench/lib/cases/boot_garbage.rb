# frozen_string_literal: true

module Bench
  # What a worker weighs whose application has dropped objects while it booted, beside one that has dropped none, and
  # what a request costs. Servers of all counts run at the same time and are loaded in turn, so that the cost of a
  # request is compared within seconds.
  class BootGarbage
    COUNTS = [0, 100_000, 300_000, 600_000].freeze
    # How many requests each worker serves at least, in so many parts.
    EACH = 2000
    QUICK = 20
    PARTS = 20
    # Every hundredth request of a worker runs a full collection.
    PATH = "/garbage?gc=100"

    # app, env: see Weight.
    def initialize(app, env: -> { {} })
      @app = File.join(APPS, app)
      @env = env
    end

    def call(spec, options)
      start(spec, COUNTS) do |servers|
        loads = servers.transform_values { |server| Load.new(server, spec) }
        each = (options.quick ? EACH / QUICK : EACH).fdiv(PARTS).ceil
        PARTS.times { loads.values.shuffle.each { |load| load.part(each) } }
        weights = servers.transform_values { |it| Footprint.of(it, settle: options.settle).worker_private_mb }
        costs = loads.transform_values(&:costs)
        figures = { ratio: over_none(weights), cpu_us: Statistics.median(costs.fetch(0)), cpu_ratio: most(costs) }
        { **weights.transform_keys { |count| key(count) }, **figures, failed: loads.each_value.sum(&:failed) }
      end
    end

    def self.key(count) = :"dropped_#{count}"

    private

    def key(count) = self.class.key(count)

    def over_none(figures) = figures.values.max.fdiv(figures.fetch(0))

    # The largest median, over counts, of the ratio to none in the same part: a part takes less than a second, so that
    # what else the machine does falls into both.
    def most(costs)
      none = costs.fetch(0)
      costs.except(0).values.map { |list| Statistics.median(list.zip(none).map { |cost, base| cost / base }) }.max
    end

    # Yields a Server for each count.
    def start(spec, counts, servers = {}, &block)
      return yield(servers) if counts.empty?

      count, *others = counts
      variables = { **@env.call, "BENCH_BOOT_GARBAGE" => count.to_s }
      Server.run(spec.with_env(variables), @app) { |it| start(spec, others, { **servers, count => it }, &block) }
    end

    # The load of one server. Every request has a connection of its own, so that all workers serve.
    class Load
      SECONDS = 900
      private_constant :SECONDS

      # costs: the CPU time of a request in each part, in us.
      attr_reader :failed, :costs

      def initialize(server, spec)
        @server = server
        @spec = spec
        @failed = 0
        @costs = []
      end

      # `each`: requests of each worker.
      def part(each)
        before = @server.tree_cpu
        report = SteadyLoad.run(@server, PATH, connections: @spec.workers, seconds: SECONDS, kept: false,
                                               requests: each * @spec.workers)
        @costs << ((@server.tree_cpu - before) * 1_000_000 / report.requests)
        @failed += report.failed
      end
    end
    private_constant :Load

    # The columns of the weights by COUNTS.
    WEIGHTS = COUNTS.map do |count|
      Column.new("private MB, #{Number.count(count)} dropped", key(count), places: 1)
    end.freeze
    COLUMNS = [
      *WEIGHTS,
      Column.new("most x none", :ratio, places: 2, target: Target.at_most(1.1)), Column.new("CPU us, none", :cpu_us),
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
