# frozen_string_literal: true

module Bench
  # What workers weigh after boot, and after each has served requests that create garbage and collect it.
  class Weight
    # Every hundredth request of a worker runs a full collection.
    PATH = "/garbage?gc=100"
    # How many requests each worker serves at least.
    EACH = 2000
    QUICK = 20
    SECONDS = 900
    # The load runs again, this often at most, until every worker has served enough.
    LOADS = 3

    # env: a callable that returns the application's variables.
    def initialize(app, env: -> { {} })
      @app = File.join(APPS, app)
      @env = env
    end

    def call(spec, options)
      Server.run(spec.with_env(@env.call), @app) do |server|
        boot = Footprint.of(server, settle: options.settle)
        cpu = server.tree_cpu
        served, failed, rate = load(spec, server, options.quick ? EACH / QUICK : EACH)
        cpu = server.tree_cpu - cpu
        loaded = Footprint.of(server, settle: options.settle)
        { boot_mb: boot.pss_mb, loaded_mb: loaded.pss_mb, roles: loaded.roles, boot_private_mb: boot.worker_private_mb,
          loaded_private_mb: loaded.worker_private_mb, served: served.minmax, failed: failed,
          cpu_us: cpu * 1_000_000 / served.sum, rate_per_gb: rate * 1024 / loaded.pss_mb,
          **origin(spec, server) }
      end
    end

    private

    # [how many requests each worker has served, how many failed, how many were served a second]. Every request has a
    # connection of its own, because a kept one would stay with one of Puma's workers, and Carat prefers the worker that
    # was used last.
    def load(spec, server, each)
      reports = []
      served = []
      while reports.size < LOADS && (served.empty? || served.min < each)
        reports << SteadyLoad.run(server, PATH, connections: spec.workers, seconds: SECONDS,
                                                requests: each * spec.workers, kept: false)
        served = server.workers.map { |pid| reports.sum { |report| report.workers.fetch(pid, 0) } }
      end
      [served, reports.sum(&:failed), reports.sum(&:ok) / reports.sum(&:seconds)]
    end

    # Where the first worker's memory comes from, in MB. Its parent has the role before the workers'.
    def origin(spec, server)
      parents, workers = server.pids_by_role.values_at(*spec.roles.keys.last(2))
      return {} unless parents && workers

      PageOrigin.of(workers.first, parents.last).to_h.to_h { |part, bytes| [:"#{part}_mb", Number.mb(bytes)] }
    rescue Errno::ENOENT, Errno::ESRCH, Errno::EACCES
      # One of them has just been replaced, or belongs to another user.
      {}
    end

    DATABASE = -> { { "DATABASE_URL" => "sqlite3:#{TestFile.path("shop.sqlite3")}" } }
    RAILS = lambda do
      missing = %w[activerecord sqlite3].find { |name| Gem::Specification.find_all_by_name(name).empty? }
      "#{missing} is not installed (apt install ruby-rails ruby-sqlite3)" if missing
    end

    COLUMNS = [
      Column.text("workers") { |row| row.spec.workers }, Column.new("PSS MB after boot", :boot_mb, places: 1),
      Column.new("after the load", :loaded_mb, places: 1), Column.roles("of that", :roles, over: :last),
      Column.new("private MB of a worker after boot", :boot_private_mb, places: 1),
      Column.new("after the load", :loaded_private_mb, places: 1),
      Column.text("requests of a worker") do |row|
        row.values(:served).flatten.minmax.uniq.map { |count| Number.count(count) }.join("-")
      end,
      Column.new("requests/s a GB", :rate_per_gb),
      Column.new("failed", :failed, over: :sum, target: Target.at_most(0))
    ].freeze

    def self.kase(name, title, weight, servers, needs: -> {})
      Case.new(name: name, title: title, servers: servers, measure: weight, columns: COLUMNS,
               further: ->(rows) { WeightFit.new(rows).tables }, needs: -> { needs.call || SteadyLoad.obstacle })
    end

    # "carat-warm-w1", "carat-warm-w2" ...
    def self.scale(*lines, workers) = lines.product(workers).map { |line, number| "#{line}-w#{number}" }

    private_class_method :kase, :scale

    CASES = [
      kase("weight", "What workers weigh after 2000 requests each: 40 MB of objects", new("weight.ru"),
           [*scale("carat-warm", "carat-plain", "puma", Servers::SCALE), *scale("carat-bare", [1, 4])]),
      kase("rails_weight", "What workers weigh after 2000 requests each: Rails with 20 models",
           new("rails_weight.ru", env: DATABASE),
           [*scale("carat-warm", "carat-default", "carat-plain", "puma", [1, 2, 4, 8]),
            *scale("carat-once", "carat-warm-once", [4])], needs: RAILS)
    ].freeze
  end
end
