# frozen_string_literal: true

module Bench
  # An application that keeps a little of each request, at a steady rate, and workers with a memory limit.
  module Leak
    REQUESTS = 20_000
    # Requests a second.
    RATE = 100
    CONNECTIONS = 16
    SPARE_SECONDS = 30
    INTERVAL_SECONDS = 0.05

    # A quick run leaks faster, for a shorter time.
    def self.call(spec, options)
      requests, rate = options.quick ? [REQUESTS / 5, RATE * 4] : [REQUESTS, RATE]
      Server.run(spec, File.join(APPS, "leak.ru")) do |server|
        sizes = []
        report = Repeat.beside(-> { sizes.concat(private_mb(server)) }, every: INTERVAL_SECONDS) do
          SteadyLoad.run(server, "/leak", connections: CONNECTIONS, requests: requests, rate: rate,
                                          seconds: (requests / rate) + SPARE_SECONDS)
        end
        sleep(options.settle)
        replaced = server.log.count(/will be replaced/)
        workers = server.workers.size
        { **report.sample, private_mb: sizes.max, readings: sizes.size, replaced: replaced, workers: workers }
      end
    end

    # The private memory of each worker.
    def self.private_mb(server)
      server.members_by_role.fetch("worker", []).map { |member| Number.mb(member.memory.private_bytes) }
    end
    private_class_method :private_mb

    CASES = [
      Case.new(
        name: "leak", title: "100 KB kept of each request, 10 MB/s", servers: %w[carat-leak], measure: method(:call),
        needs: SteadyLoad.method(:obstacle),
        columns: [
          *Column.requests,
          Column.new("p99 ms", :p99_ms, places: 1), Column.new("slowest ms", :max_ms, over: :max, places: 1),
          Column.new("highest private MB of a worker", :private_mb, over: :max, places: 1, target: Target.at_most(165)),
          Column.new("readings", :readings, over: :sum), Column.new("replaced", :replaced, over: :sum),
          Column.new("workers in the end", :workers, over: :min, target: ->(row) { Target.at_least(row.spec.workers) })
        ]
      )
    ].freeze
  end
end
