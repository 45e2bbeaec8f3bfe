# frozen_string_literal: true

module Bench
  # A number of Rails requests, many at once and each on a connection of its own, and how long all of them take.
  class Burst
    # requests: how many; at_once: how many at a time; every: each such request takes 1 s (none for 0).
    Size = Struct.new(:requests, :at_once, :every) do
      def to_s = every.zero? ? "#{requests}, #{at_once} at once" : "1 in #{every}"
    end
    SECONDS = 900
    # Opens every worker's connections and lets Rails finish its one-time work.
    WARMUP = Size.new(400, 50, 0)

    # paths: the quick one and the slow one.
    def initialize(sizes, *paths)
      @sizes = sizes
      @paths = paths
    end

    def call(spec, _options)
      Server.run(spec.with_env(Database.environment), File.join(APPS, "rails_pg.ru")) do |server|
        run(server, WARMUP, "/", "/")
        @sizes.to_h { |size| [size, run(server, size, *@paths)] }
      end
    end

    def self.obstacle = Database.obstacle || SteadyLoad.obstacle

    private

    def run(server, size, quick, slow)
      report = SteadyLoad.run(server, quick, connections: size.at_once, seconds: SECONDS, requests: size.requests,
                                             every: size.every, other: slow, kept: false)
      { requests: size.requests, seconds: report.seconds, ok: report.ok }
    end

    def self.kase(name, title, servers, burst, *ratio, seconds: nil)
      Case.new(
        name: name, title: title, servers: servers, variants: "requests", measure: burst, busy: true,
        needs: method(:obstacle),
        columns: [
          Column.new("seconds", :seconds, places: 2, target: seconds), Column.spread(:seconds, places: 2), *ratio,
          Column.new("completed", :ok, over: :min, target: ->(row) { Target.at_least(row[:requests]) })
        ]
      )
    end
    private_class_method :kase

    CASES = [
      kase("rails_sleep", "Rails: ten requests that wait 1 s for the database", %w[carat-f256 puma puma-t10],
           new([Size.new(10, 10, 0)], "/sleep", "/sleep"), seconds: Target.at_most(1.2)),
      kase("rails_mix", "Rails: 1000 queries, 200 at once, of which some wait 1 s", %w[carat-f256 puma-w4],
           new([200, 100, 50, 20, 10].map { |every| Size.new(1000, 200, every) }, "/", "/sleep"),
           Column.ratio("puma-w4", :seconds, target: Target.below(1)))
    ].freeze
  end
end
