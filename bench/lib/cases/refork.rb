# frozen_string_literal: true

module Bench
  # A worker becomes the mold of the others while requests come as fast as the server responds.
  module Refork
    SECONDS = 20
    # The first second is not measured.
    WARM_SECONDS = 1
    # The last worker ends a moment before the last request that it delayed.
    MARGIN_SECONDS = 0.1

    def self.call(spec, options)
      Server.run(spec, File.join(APPS, "weight.ru")) do |server|
        before = Footprint.of(server, settle: options.settle)
        report = SteadyLoad.run(server, "/", connections: options.connections, seconds: SECONDS)
        span = server.log.since(report.started).span
        warn("#{spec.name}: no refork in this round") unless span
        after = Footprint.of(server, settle: options.settle)
        { requests: report.requests, failed: report.failed, before_mb: before.pss_mb, after_mb: after.pss_mb,
          roles: after.roles, **(span ? latencies(report, span) : {}) }
      end
    end

    # span: from the first event of the refork to the last.
    def self.latencies(report, span)
      from = span.begin - MARGIN_SECONDS
      to = span.end + MARGIN_SECONDS
      window = report.window_seconds
      calm = report.p99_ms((report.started + WARM_SECONDS)..(from - window)) || 0
      during = report.p99_ms(from..to) || 0
      { took: span.end - span.begin, before_p99_ms: calm, during_p99_ms: during, ratio: during.fdiv(calm),
        after_p99_ms: report.p99_ms((to + window)..report.ended) || 0 }
    end

    CASES = [
      Case.new(
        name: "refork", title: "A refork under load", servers: %w[carat-refork-t3 carat-refork-f16],
        measure: method(:call), needs: SteadyLoad.method(:obstacle),
        columns: [
          Column.new("took s", :took, places: 1), Column.new("p99 ms before", :before_p99_ms, places: 1),
          Column.new("during", :during_p99_ms, places: 1), Column.new("after", :after_p99_ms, places: 1),
          Column.new("during x before", :ratio, over: :max, places: 2, target: Target.at_most(3)),
          *Column.requests,
          Column.new("PSS MB before", :before_mb, places: 1), Column.new("after", :after_mb, places: 1),
          Column.roles("of that", :roles, over: :last)
        ]
      )
    ].freeze
  end
end
