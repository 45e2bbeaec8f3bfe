# frozen_string_literal: true

require "timeout"

module Bench
  # More requests than the application can serve, of clients that open a connection each and leave after 2 s.
  module Overload
    PATIENCE = 2
    # /sleep of apps/sleep.ru; five threads can serve 250 a second.
    PATH = "/sleep?0.02"
    AT_ONCE = 5
    # Offered requests, as multiples of the capacity.
    FACTORS = [0.9, 1, 1.7, 2, 5].freeze
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

    # Clients that ask again at once, whatever the response, beside one that asks at most ten times a second and waits
    # for 4 s.
    module Greed
      PATH = "/sleep?0.05"
      CROWDS = [40, 200].freeze
      PAUSE = 0.1
      PATIENCE = 4
      MIN_SECONDS = 12

      def self.call(spec, options)
        seconds = [options.duration, MIN_SECONDS].max
        Server.run(spec, File.join(APPS, "sleep.ru")) do |server|
          CROWDS.to_h { |count| [count, crowd(server, count, now + seconds)] }
        end
      end

      def self.crowd(server, count, until_time)
        honest = Thread.new { ask(server, until_time, PAUSE) }
        greedy = Array.new(count) { Thread.new { ask(server, until_time, 0) } }
        others = greedy.sum { |thread| thread.value.count(200) }.fdiv(count)
        asked, served = honest.value.size, honest.value.count(200)
        { asked: asked, served: served, share: served.fdiv(asked), others: others, beside: served / [others, 1.0].max }
      end

      # The status of each response; nil for none in time.
      def self.ask(server, until_time, pause)
        statuses = []
        while (start = now) < until_time
          statuses << status(server)
          sleep((start + pause - now).clamp(0, pause))
        end
        statuses
      end

      def self.status(server)
        Timeout.timeout(PATIENCE) { HttpClient.get(server.port, PATH).status }
      rescue Timeout::Error, *HttpClient::GONE
        nil
      end

      def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      private_class_method :crowd, :ask, :status, :now
    end

    private_class_method :overload, :rate, :load

    TARGET = ->(row) { Target.at_least(row.spec.name.end_with?("fifo") ? 0 : 0.9) }
    FAIR = ->(least, row) { Target.at_least(row.spec.name == "carat-t5" ? least : 0) }
    private_constant :TARGET, :FAIR

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
      ),
      Case.new(
        name: "greedy_clients", title: "clients that ask again at once, beside one that asks ten times a second",
        servers: %w[carat-t5 carat-t5-fifo puma-t5], variants: "greedy", measure: Greed.method(:call), busy: true,
        columns: [
          Column.new("asked by the one", :asked), Column.new("its 200", :served),
          Column.new("of what it asks", :share, places: 2, target: FAIR.curry[0.5]),
          Column.new("200 of each other one", :others, places: 1),
          Column.new("beside these", :beside, places: 2, target: FAIR.curry[0.9])
        ]
      )
    ].freeze
  end
end
