# frozen_string_literal: true

module Bench
  # A worker becomes the mold of the others while requests come as fast as the server responds.
  class Refork
    SECONDS = 30
    # The last worker ends a moment before the last request that it delayed.
    MARGIN_SECONDS = 0.1

    # warm: seconds at the beginning that are not measured; connections: at most; env: a callable that returns the
    # application's variables.
    def initialize(app, path, warm:, connections: 64, env: -> { {} })
      @app = File.join(APPS, app)
      @path = path
      @warm = warm
      @connections = connections
      @env = env
    end

    def call(spec, options)
      Server.run(spec.with_env(@env.call), @app) do |server|
        before = Footprint.of(server, settle: options.settle)
        report = SteadyLoad.run(server, @path, connections: [options.connections, @connections].min,
                                               seconds: SECONDS)
        span = server.log.since(report.started).span
        span = nil unless span && span.begin > warm_end(report) + 1 && span.end + 2 < report.ended
        after = Footprint.of(server, settle: options.settle)
        { requests: report.requests, failed: report.failed, before_mb: before.pss_mb, after_mb: after.pss_mb,
          roles: after.roles, rate: report.rate(warm_end(report)..report.ended),
          **(span ? around(report, span, warm_end(report)) : {}) }
      end
    end

    private

    def warm_end(report) = report.started + @warm

    # span: from the first event of the refork to the last; start: Unix time from when on it is measured.
    def around(report, span, start)
      from = span.begin - MARGIN_SECONDS
      to = span.end + MARGIN_SECONDS
      before = start..(from - report.window_seconds)
      calm, during = [before, from..to].map { |times| report.p99_ms(times) || 0 }
      { took: span.end - span.begin, before_p99_ms: calm, during_p99_ms: during, ratio: during.fdiv(calm),
        after_p99_ms: report.p99_ms((to + report.window_seconds)..report.ended) || 0,
        before_rate: report.rate(before), during_rate: report.rate(from..to), second_rate: report.rate(to..(to + 1)),
        second_ratio: report.rate(to..(to + 1)) / report.rate(before), after_rate: report.rate((to + 1)..report.ended) }
    end

    LATENCIES = [
      Column.new("p99 ms before", :before_p99_ms, places: 1), Column.new("during", :during_p99_ms, places: 1),
      Column.new("after", :after_p99_ms, places: 1),
      Column.new("during x before", :ratio, over: :max, places: 2, target: Target.at_most(3))
    ].freeze
    RATES = [
      Column.new("req/s", :rate), Column.new("before", :before_rate), Column.new("during", :during_rate),
      Column.new("in the second after", :second_rate), Column.new("later", :after_rate),
      Column.new("second after x before", :second_ratio, places: 2, target: Target.at_least(1))
    ].freeze

    def self.kase(name, title, refork, servers, columns, needs: -> {})
      Case.new(
        name: name, title: title, servers: servers, measure: refork, needs: -> { needs.call || SteadyLoad.obstacle },
        columns: [
          Column.new("took s", :took, places: 1), *columns, *Column.requests,
          Column.new("PSS MB before", :before_mb, places: 1), Column.new("after", :after_mb, places: 1),
          Column.roles("of that", :roles, over: :last)
        ]
      )
    end
    private_class_method :kase

    CASES = [
      kase("refork", "A refork under load", new("weight.ru", "/", warm: 1), %w[carat-refork-t3 carat-refork-f16],
           LATENCIES),
      kase("rails_refork", "A refork under load: Rails with 20 models",
           new("rails_weight.ru", "/garbage", warm: 7, connections: 8, env: Weight::DATABASE),
           %w[carat-refork-w4 carat-once-w4], RATES, needs: Weight::RAILS)
    ].freeze
  end
end
