# frozen_string_literal: true

module Bench
  # TLS 1.3: requests on kept connections, new connections, and idle ones.
  module Tls
    APP = File.join(APPS, "hello.ru")
    SERVERS = %w[carat puma-t5].freeze
    CLIENTS = 4
    # They never pause, while plain requests are measured.
    CROWD = 50
    PROBE = { connections: 8, rate: 200 }.freeze
    IDLE = 5000

    def self.hello(spec, options)
      TlsAddress.run(spec, APP) do |server, port|
        report = Wrk.new(server, options, url: "https://127.0.0.1:#{port}").warm_up.run
        { rate: report.rate, p99_ms: report.p99_ms, errors: report.errors, cpu_us: report.cost * 1e6 }
      end
    end

    def self.handshakes(spec, options)
      TlsAddress.run(spec, APP) do |server, port|
        full = connect(server, port, options, resumed: false)
        resumed = connect(server, port, options, resumed: true)
        crowd = Handshakes.start(port, threads: CROWD, seconds: options.duration + options.warmup + 1)
        beside = SteadyLoad.run(server, "/", seconds: options.duration, **PROBE)
        crowd = crowd.finish
        { full: full[:rate], full_us: full[:cpu_us], resumed: resumed[:rate], resumed_us: resumed[:cpu_us],
          crowd: crowd.rate, probe_p99_ms: beside.p99_ms,
          failed: beside.failed + crowd.failed + full[:failed] + resumed[:failed] }
      end
    end

    # The rate of new connections, and what one costs the server.
    def self.connect(server, port, options, resumed:)
      before = server.tree_cpu
      report = Handshakes.run(port, threads: CLIENTS, seconds: options.duration, resumed: resumed)
      cpu = server.tree_cpu - before
      raise Failure, "sessions are not resumed" if resumed && report.resumed < 0.9 * report.connections

      { rate: report.rate, cpu_us: cpu * 1e6 / report.connections, failed: report.failed }
    end

    def self.idle(spec, options, *arguments)
      TlsAddress.run(spec, APP) do |server, port|
        wanted = options.quick ? options.idle_connections : IDLE
        Idle.held(server, "https://127.0.0.1:#{port}/", wanted, options, *arguments)
      end
    end

    HELD = [Column.new("connections", :held), Idle::AGAIN].freeze

    CASES = [
      Case.new(
        name: "tls", title: "Hello world over TLS 1.3, 64 connections", servers: [*SERVERS, "hyper"], busy: true,
        measure: method(:hello), needs: Wrk.method(:obstacle),
        columns: [
          Column.new("req/s", :rate), Column.new("p99 ms", :p99_ms, places: 1),
          Column.new("CPU us a request", :cpu_us, places: 1),
          Column.ratio("puma-t5", :rate, target: Target.at_least(6)),
          Column.ratio("hyper", :rate, target: Target.at_least(0.7)), Column.new("errors", :errors, over: :sum)
        ]
      ),
      Case.new(
        name: "handshakes", title: "New TLS connections a second, ECDSA on P-256, four clients", servers: SERVERS,
        measure: method(:handshakes), needs: -> { Handshakes.obstacle || SteadyLoad.obstacle },
        columns: [
          Column.new("full", :full), Column.ratio("puma-t5", :full, target: Target.at_least(2)),
          Column.new("CPU us", :full_us),
          Column.new("resumed", :resumed), Column.ratio("puma-t5", :resumed, target: Target.at_least(2)),
          Column.new("CPU us", :resumed_us), Column.new("full, 50 clients", :crowd),
          Column.new("p99 ms of plain requests beside them", :probe_p99_ms, places: 1, target: Target.at_most(20)),
          Column.new("failed", :failed, over: :sum, target: Target.at_most(0))
        ]
      ),
      Case.new(
        name: "idle_tls", title: "5000 idle TLS connections", servers: %w[carat puma-idle],
        measure: ->(spec, options) { idle(spec, options, "--h1") }, needs: H2load.method(:obstacle),
        columns: [
          *HELD, Column.new("bytes each", :bytes, target: Target.at_most(12 * 1024)),
          Column.ratio("puma-idle", :bytes, target: Target.at_most(0.5))
        ]
      ),
      Case.new(
        name: "idle_http2", title: "5000 idle connections of HTTP/2 over TLS", servers: %w[carat],
        measure: method(:idle), needs: H2load.method(:obstacle), columns: [*HELD, Column.new("bytes each", :bytes)]
      )
    ].freeze
  end
end
