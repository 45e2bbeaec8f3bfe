# frozen_string_literal: true

require "json"
require_relative "failure"
require_relative "latencies"
require_relative "rust_program"

module Bench
  # A steady load by bench/steady, which runs beside the benchmark.
  class Steady
    CLIENT = RustProgram.new("steady")

    # What came of it. begun: Unix time; windows: a Latencies for each window_seconds; statuses: answers by status,
    # "lost" for none; workers: answers by the process that gave them, where they say so.
    Report = Struct.new(:begun, :window_seconds, :windows, :statuses, :workers, keyword_init: true) do
      def self.parse(text)
        fields = JSON.parse(text, symbolize_names: true)
        fields[:windows] = fields.fetch(:windows).map { |window| Latencies.new(**window) }
        fields[:statuses] = fields.fetch(:statuses).transform_keys(&:to_s)
        fields[:workers] = fields.fetch(:workers).transform_keys { |pid| Integer(pid.to_s, 10) }
        new(**fields)
      end

      def requests
        statuses.values.sum
      end

      # Requests without an answer, or with another than 200.
      def failed
        requests - statuses.fetch("200", 0)
      end

      # The Latencies of the requests that ended in windows which touch this Range of Unix times.
      def within(times)
        touched = windows.select.with_index do |_, index|
          from = begun + (index * window_seconds)
          from + window_seconds > times.begin && from < times.end
        end
        Latencies.sum(touched)
      end

      def ended
        begun + (windows.size * window_seconds)
      end
    end

    # Makes the load and gives its Report. options: see start.
    def self.run(port, path, **options)
      start(port, path, **options).finish
    end

    # Begins the load. seconds: the most it may take; requests: how many, or as many as there is time for; rate: so many
    # a second, or as many as are answered; kept: whether connections are used again.
    def self.start(port, path, connections:, seconds:, requests: nil, rate: nil, kept: true)
      raise Failure, CLIENT.obstacle if CLIENT.obstacle

      options = { requests: requests, rate: rate, connections: kept ? nil : "close" }.compact
      new("127.0.0.1:#{port}", connections.to_s, path, seconds.to_s, *options.map { |pair| pair.join("=") })
    end

    def initialize(*words)
      @pipe = IO.popen([CLIENT.path, *words])
    end

    # Waits for the end of the load and gives its Report.
    def finish
      output = @pipe.read
      @pipe.close
      raise Failure, "steady failed" unless Process.last_status.success?

      Report.parse(output)
    end
  end
end
