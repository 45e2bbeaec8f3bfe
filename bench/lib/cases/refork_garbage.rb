# frozen_string_literal: true

module Bench
  # What workers weigh that were forked from one whose requests have dropped objects, beside those from one that has
  # dropped none.
  class ReforkGarbage
    COUNTS = BootGarbage::COUNTS
    # How many requests each worker serves at least: before the objects are dropped, and after the refork.
    EACH = 300
    QUICK = 10
    # How many requests of each worker drop objects, and how many come at a time until the refork is over.
    LITTERED = 5
    PART = 50
    SECONDS = 900
    REFORK_SECONDS = 300

    # app, env: see Weight.
    def initialize(app, env: -> { {} })
      @app = File.join(APPS, app)
      @env = env
    end

    def call(spec, options)
      each = options.quick ? EACH / QUICK : EACH
      figures = COUNTS.to_h { |count| [key(count), weigh(spec, options, count, each)] }
      { **figures, ratio: figures.values.max.fdiv(figures.fetch(key(0))) }
    end

    private

    def key(count) = BootGarbage.key(count)

    # The private memory of a worker, in MB.
    def weigh(spec, options, count, each)
      Server.run(spec.with_env(@env.call), @app) do |server|
        load(server, spec, each)
        old = server.workers
        load(server, spec, LITTERED, path: "/litter?#{count}")
        server.poll(REFORK_SECONDS) do
          load(server, spec, PART, path: "/garbage")
          workers = server.workers
          workers.size == spec.workers && (workers & old).empty?
        end || raise(Failure, "#{spec.name} did not refork within #{REFORK_SECONDS} s")
        load(server, spec, each)
        Footprint.of(server, settle: options.settle).worker_private_mb
      end
    end

    def load(server, spec, each, path: BootGarbage::PATH)
      SteadyLoad.run(server, path, connections: spec.workers, seconds: SECONDS, kept: false,
                                   requests: each * spec.workers)
    end

    CASES = [
      Case.new(name: "rails_refork_garbage", servers: %w[carat-refork-w4],
               title: "What a worker weighs for what the one before the refork has left behind: Rails with 20 models",
               measure: new("rails_weight.ru", env: Weight::DATABASE),
               needs: -> { Weight::RAILS.call || SteadyLoad.obstacle },
               columns: [
                 *BootGarbage::WEIGHTS,
                 Column.new("most x none", :ratio, places: 2, target: Target.at_most(1.1))
               ])
    ].freeze
  end
end
