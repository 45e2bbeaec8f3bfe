# frozen_string_literal: true

module Bench
  # More requests than the application can serve, of clients that open a connection each and leave after 2 s.
  module Overload
    PATIENCE = 2
    # /sleep of apps/sleep.ru; five threads can serve 250 a second.
    PATH = "/sleep?0.02"
    AT_ONCE = 5
    # Offered requests, as multiples of the capacity.
    FACTORS = [0.9, 1.7, 2, 5].freeze
    # Enough for windows of half a second to begin and end.
    MIN_SECONDS = 8

    def self.call(spec, options)
      seconds = [options.duration, MIN_SECONDS].max
      Server.run(spec, File.join(APPS, "sleep.ru")) do |server|
        load(server, connections: AT_ONCE, seconds: 1)
        capacity = rate(load(server, connections: AT_ONCE * 2, seconds: 3))
        FACTORS.to_h { |factor| ["x #{factor}", overload(server, capacity, factor, seconds)] }
      end
    end

    def self.overload(server, capacity, factor, seconds)
      offered = capacity * factor
      report = load(server, connections: (offered * (PATIENCE + 0.5)).ceil, seconds: seconds, rate: offered)
      good = report.ok.fdiv(seconds)
      refused = report.statuses.fetch("503", 0).fdiv(seconds)
      { capacity: capacity, offered: offered, good: good, share: good / [capacity, offered].min,
        refused: refused, given_up: (report.failed.fdiv(seconds) - refused) }
    end

    def self.rate(report) = report.ok / report.seconds

    def self.load(server, **options) = SteadyLoad.run(server, PATH, kept: false, patience: PATIENCE, **options)

    private_class_method :overload, :rate, :load

    TARGET = ->(row) { Target.at_least(row.spec.name.end_with?("fifo") ? 0 : 0.9) }
    private_constant :TARGET

    CASES = [
      Case.new(
        name: "overload", title: "more requests than capacity, of clients that leave after 2 s",
        servers: %w[carat-t5 carat-t5-fifo puma-t5], variants: "offered", measure: method(:call), busy: true,
        needs: SteadyLoad.method(:obstacle),
        columns: [
          Column.new("capacity/s", :capacity), Column.new("offered/s", :offered), Column.new("200/s", :good),
          Column.new("of what is possible", :share, places: 2, target: TARGET),
          Column.new("503/s", :refused), Column.new("given up/s", :given_up)
        ]
      )
    ].freeze
  end
end
