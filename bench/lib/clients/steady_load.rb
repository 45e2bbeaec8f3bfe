# frozen_string_literal: true

require "json"

module Bench
  # Load by bench/src/bin/steady, which runs beside the benchmark.
  module SteadyLoad
    CLIENT = RustProgram.new("steady")

    # started: Unix time; seconds: until the last response; windows: Latencies for each window_seconds; statuses: number
    # of responses by status, "lost" for none; workers: number of responses by process id, where responses name it.
    Report = Struct.new(:started, :seconds, :window_seconds, :windows, :statuses, :workers, keyword_init: true) do
      def self.parse(text)
        fields = JSON.parse(text, symbolize_names: true)
        new(**fields, windows: fields.fetch(:windows).map { |window| Latencies.new(**window) },
                      statuses: fields.fetch(:statuses).transform_keys(&:to_s),
                      workers: fields.fetch(:workers).transform_keys { |pid| Integer(pid.to_s, 10) })
      end

      def requests = statuses.values.sum

      def ok = statuses.fetch("200", 0)

      def failed = requests - ok

      # For a case's sample.
      def sample = { requests: requests, failed: failed, p99_ms: p99_ms || 0, max_ms: max_ms || 0 }

      def ended = started + seconds

      # Of all requests, or of those that ended in windows that touch a Range of Unix times; nil when there are none.
      def p99_ms(times = started..ended) = within(times).percentile(99)

      def max_ms = Latencies.sum(windows).percentile(100)

      # Requests that ended in a second, in the windows that touch a Range of Unix times.
      def rate(times) = touching(times).then { |list| list.sum(&:requests) / (list.size * window_seconds) }

      def within(times) = Latencies.sum(touching(times))

      private

      def touching(times)
        windows.select.with_index do |_, index|
          from = started + (index * window_seconds)
          from + window_seconds > times.begin && from < times.end
        end
      end
    end

    # Runs the load and returns its Report. options: see start.
    def self.run(server, path, **options) = start(server, path, **options).finish

    # The same, of which `finish` waits for the end and returns the Report.
    #
    # seconds: the most that the load may take; requests: how many, or as many as there is time for; rate: requests to
    # start a second, or as many as get a response; every, other: each such request is for the other path; kept: whether
    # connections are used again.
    def self.start(server, path, connections:, seconds:, kept: true, **options)
      options = options.merge(connections: kept ? nil : "close").compact
      CLIENT.start("127.0.0.1:#{server.port}", connections, path, seconds, *options.map { |pair| pair.join("=") },
                   &Report.method(:parse))
    end

    def self.obstacle = CLIENT.obstacle
  end
end
