# frozen_string_literal: true

module Bench
  # Everything that clients do, for as long as you wish, and how fast each process grows meanwhile.
  module Soak
    SEED = 12
    FILE_BYTES = 2 << 20
    READINGS = 500
    INTERVAL_SECONDS = (0.2..5.0)
    # Small GETs beside the clients, so many a second.
    RATE = 200
    CONNECTIONS = 8
    # Growth in an hour that counts as growth when the whole interval lies above it.
    LIMITS = { pss_mb: 1, private_mb: 1, descriptors: 1, threads: 1 }.freeze

    def self.call(spec, options)
      file = TestFile.random(FILE_BYTES).path
      ClientProcess.beside(spec.with_env("SOAK_FILE" => file), File.join(APPS, "soak.ru"),
                           "SoakClients") do |server, clients|
        clients.call(:start, file: file, seed: SEED)
        load = SteadyLoad.start(server, "/", connections: CONNECTIONS, seconds: options.duration, rate: RATE)
        readings, most = watch(server, options.duration)
        tallies = clients.call(:stop)
        tallies[:failures].each { |failure| warn("#{spec.name}: #{failure}") }
        counts = { operations: tallies[:done].values.sum, errors: tallies[:wrong].values.sum }
        { seconds: options.duration, most_workers: most, growth: readings.growth, **processes(server), **tallies,
          **counts, **load.finish.sample }
      end
    end

    # Reads the processes until the time is up; returns the readings, and how many workers there were at most.
    def self.watch(server, duration)
      readings = ProcessReadings.new
      interval = duration.fdiv(READINGS).clamp(INTERVAL_SECONDS)
      started = Bench.now
      counts = []
      while (seconds = Bench.now - started) < duration
        counts << readings.read(server, seconds)["worker"].to_i
        sleep(interval)
      end
      [readings, counts.max]
    end

    def self.processes(server)
      log = server.log
      { later_molds: log.later_generations, born: log.ready_times.size, died: log.count(/ died/) }
    end

    # How often each kind of operation was done.
    def self.tallies(rows)
      cells = rows.flat_map do |row|
        SoakClient::KINDS.map do |kind|
          done, wrong = %i[done wrong].map { |figure| row.values(figure).sum { |tally| tally[kind] || 0 } }
          [row.spec.name, kind, Number.count(done), wrong]
        end
      end
      Table.new(%w[server operation done wrong], cells)
    end

    def self.growth(rows)
      cells = rows.flat_map do |row|
        row[:growth].map do |group, found|
          [row.spec.name, group, found[:processes], found[:readings],
           found[:minutes].map { |minutes| Number.decimals(minutes, 1) }.join("-"),
           *LIMITS.flat_map { |figure, limit| [ends(found[figure]), per_hour(found[figure], limit)] }]
        end
      end
      Table.new(["server", "processes", "number", "readings", "minutes", "PSS MB", "MB/h", "private MB", "MB/h",
                 "descriptors", "per h", "threads", "per h"], cells)
    end

    def self.ends(trend) = trend.values_at(:from, :to).map { |value| Number.decimals(value, 1) }.join("-")

    # "+0.1 ± 0.3"; marked when it is growth beyond doubt.
    def self.per_hour(trend, limit)
      slope = Slope.new(*trend.values_at(:per_hour, :margin))
      return Number::NONE unless slope.margin

      text = format("%<per_x>+.1f ± %<margin>.1f", **slope.to_h)
      slope.above?(limit) ? "**#{text} grows**" : text
    end

    private_class_method :watch, :processes, :tallies, :growth, :ends, :per_hour

    CASES = [
      Case.new(
        name: "soak", title: "Everything at once", servers: %w[carat-soak-t3 carat-soak-f16], once: true,
        measure: method(:call), needs: SteadyLoad.method(:obstacle),
        columns: [
          Column.new("seconds", :seconds), *Column.requests("GETs"),
          Column.new("operations", :operations, over: :sum),
          Column.new("wrong", :errors, over: :sum, target: Target.at_most(0)),
          Column.new("workers at most", :most_workers, over: :max), Column.new("workers born", :born, over: :sum),
          Column.new("later molds", :later_molds, over: :sum),
          Column.new("processes died", :died, over: :sum, target: Target.at_most(0))
        ],
        further: ->(rows) { [growth(rows), tallies(rows)] }
      )
    ].freeze
  end
end
