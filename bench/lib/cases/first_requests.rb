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
    # For the requests of a worker.
    SECONDS = 120
    SCALE_UP = "scale-up"
    # Which signal makes a worker come, after the death of another or beside it. Puma, preloaded, restarts as a whole.
    WAYS = {
      "kill" => ->(server, _) { Process.kill(:KILL, server.workers.first) },
      "restart" => ->(server, spec) { Process.kill(spec.carat? ? :USR1 : :USR2, server.pids.first) },
      SCALE_UP => ->(server, _) { Process.kill(:TTIN, server.pids.first) }
    }.freeze

    def self.call(spec, options)
      Server.run(spec.with_env(Weight::DATABASE.call), File.join(APPS, "rails_weight.ru")) do |server|
        count = options.quick ? COUNT / 10 : COUNT
        responses(server, PATH, options.quick ? count : BEFORE)
        compiled = compiled(server)
        WAYS.to_h do |way, order|
          [way, sample(Array.new(WORKERS) { new_worker(server, way, count) { order.call(server, spec) } }, compiled)]
        end
      end
    end

    def self.sample(news, compiled)
      times = news.flat_map(&:last)
      { compiled_share: news.sum(&:first) / (compiled * WORKERS).to_f, p50_ms: Statistics.percentile(times, 50),
        p99_ms: Statistics.percentile(times, 99), most_ms: times.max, requests: times.size }
    end

    # The block orders it. Returns how many methods are compiled before its first page, and the milliseconds of each.
    def self.new_worker(server, way, count)
      old = server.workers
      clients = way == SCALE_UP ? old.size + 1 : 1
      yield
      [compiled(server, old, clients), responses(server, PATH, count, old, clients).map(&:last)]
    ensure
      Process.kill(:TTOU, server.pids.first) if way == SCALE_UP
      server.poll(READY_SECONDS) { server.workers.one? }
    end

    def self.compiled(server, old = [], clients = 1)
      responses(server, COMPILED_PATH, 1, old, clients).first.first.body.to_i
    end

    # So many pairs of a response of workers that are not old and its milliseconds. There is a client for each worker: a
    # lone one would get all responses from one of them.
    def self.responses(server, path, count, old = [], clients = 1)
      found = []
      deadline = Bench.now + SECONDS
      threads = Array.new(clients) do
        Thread.new { found.concat(timed(server, path, old)) until found.size >= count || Bench.now > deadline }
      end
      threads.each(&:join)
      found.size >= count ? found.first(count) : raise(Failure, "no #{count} responses of a new worker in #{SECONDS} s")
    end

    # Such a pair in an Array, which is empty when an old worker responds, or none.
    def self.timed(server, path, old)
      started = Bench.now
      response = HttpClient.get(server.port, path)
      old.include?(response.headers["x-worker"].to_i) ? [] : [[response, (Bench.now - started) * 1000]]
    rescue *HttpClient::GONE
      []
    end

    private_class_method :sample, :new_worker, :compiled, :responses, :timed

    CASES = [
      Case.new(
        name: "first_requests", title: "The first 500 requests of a new worker: Rails with 20 models",
        servers: %w[carat-warm-w1 carat-default-w1 puma-w1], variants: "after", measure: method(:call),
        needs: Weight::RAILS,
        columns: [
          Column.new("compiled before them", :compiled_share, places: 2), Column.new("p50 ms", :p50_ms, places: 1),
          Column.new("p99 ms", :p99_ms, places: 1),
          Column.ratio("puma-w1", :p99_ms, heading: "x puma", target: Target.at_most(0.5)),
          Column.new("most ms", :most_ms, over: :max, places: 1), Column.new("requests", :requests, over: :sum)
        ]
      )
    ].freeze
  end
end
