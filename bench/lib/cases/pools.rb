# frozen_string_literal: true

module Bench
  # A front page while five clients ask for a slow page again and again.
  module Pools
    # /sleep of apps/sleep.ru: an export of half a second.
    SLOW = "/sleep?0.5"
    SLOW_CLIENTS = 5
    RATE = 50

    def self.call(spec, options)
      seconds = [options.duration, 5].max
      Server.run(spec, File.join(APPS, "sleep.ru")) do |server|
        slow = SteadyLoad.start(server, SLOW, connections: SLOW_CLIENTS, seconds: seconds + 1)
        front = SteadyLoad.run(server, "/", connections: RATE, seconds: seconds, rate: RATE)
        { p50: front.within(front.started..front.ended).percentile(50), p99: front.p99_ms, failed: front.failed,
          slow: slow.finish.then { |report| report.ok / report.seconds } }
      end
    end

    CASES = [
      Case.new(
        name: "pools", title: "a front page (#{RATE}/s) beside five clients that always wait for a page of 0.5 s",
        servers: %w[carat-t5-pool carat-t5 puma-t5], measure: method(:call), busy: true,
        needs: SteadyLoad.method(:obstacle),
        columns: [
          Column.new("p50 ms", :p50, places: 1), Column.new("p99 ms", :p99, places: 1),
          Column.new("failed", :failed), Column.new("slow pages/s", :slow, places: 1)
        ]
      )
    ].freeze
  end
end
