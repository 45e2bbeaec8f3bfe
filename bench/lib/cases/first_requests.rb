# frozen_string_literal: true

module Bench
  # How fast a new worker serves its first requests, and how many methods are compiled before them.
  module FirstRequests
    PATH = "/garbage"
    # Returns how many methods the JIT of the worker has compiled.
    COMPILED_PATH = "/compiled"
    COUNT = 500
    # What the worker before it has served.
    BEFORE = 2000
    WORKERS = 3
    READY_SECONDS = 30

    def self.call(spec, options)
      Server.run(spec.with_env(Weight::DATABASE.call), File.join(APPS, "rails_weight.ru")) do |server|
        count = options.quick ? COUNT / 10 : COUNT
        serve(server, options.quick ? count : BEFORE)
        compiled = compiled(server)
        news = Array.new(WORKERS) { new_worker(server, count) }
        times = news.flat_map(&:last)
        { compiled_share: news.sum(&:first) / (compiled * WORKERS).to_f, p50_ms: Statistics.percentile(times, 50),
          p99_ms: Statistics.percentile(times, 99), most_ms: times.max, requests: times.size }
      end
    end

    # [the methods that are compiled before its first page, the milliseconds of each request]
    def self.new_worker(server, count)
      old = server.workers.first
      Process.kill(:KILL, old)
      server.poll(READY_SECONDS) { (server.workers - [old]).any? && HttpClient.get(server.port, "/compiled").status } ||
        raise(Failure, "no worker after #{READY_SECONDS} s")
      [compiled(server), serve(server, count)]
    rescue *HttpClient::GONE
      retry
    end

    def self.serve(server, count)
      Array.new(count) do
        started = Bench.now
        HttpClient.get(server.port, PATH)
        (Bench.now - started) * 1000
      end
    end

    def self.compiled(server) = HttpClient.get(server.port, COMPILED_PATH).body.to_i

    private_class_method :new_worker, :serve, :compiled

    CASES = [
      Case.new(
        name: "first_requests", title: "The first 500 requests of a new worker: Rails with 20 models",
        servers: %w[carat-warm-w1 carat-default-w1 puma-w1], measure: method(:call), needs: Weight::RAILS,
        columns: [
          Column.new("compiled before them", :compiled_share, places: 2), Column.new("p50 ms", :p50_ms, places: 1),
          Column.new("p99 ms", :p99_ms, places: 1), Column.new("most ms", :most_ms, over: :max, places: 1),
          Column.new("requests", :requests, over: :sum)
        ]
      )
    ].freeze
  end
end
