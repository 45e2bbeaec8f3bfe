# frozen_string_literal: true

module Bench
  # Requests as fast as the server responds, on connections that are kept.
  class Load
    # app: a rackup file; path, bytes: what is requested, and how long its body is; env: a callable that returns the
    # application's variables; connections: how many carry load, or nil for what the command line says.
    def initialize(app, path, bytes, env: -> { {} }, connections: nil)
      @app = app
      @path = path
      @bytes = bytes
      @env = env
      @connections = connections
    end

    def call(spec, options)
      Server.run(spec.with_env(@env.call), @app) do |server|
        check_response(spec, server)
        report = Wrk.new(server, options, path: @path, connections: @connections || options.connections).warm_up.run
        check_bytes(spec, report)
        footprint = Footprint.of(server)
        { **report.to_h, cpu_per_1000: report.cost * 1000, pss_mb: footprint.pss_mb, roles: footprint.roles }
      end
    end

    private

    # A server that responds with something else does not belong in the table.
    def check_response(spec, server)
      response = HttpClient.get(server.port, @path)
      size = response.body.bytesize
      return if response.status == 200 && size == @bytes

      raise Failure, "#{spec.name} responded with #{response.status} and #{size} bytes, not with 200 and #{@bytes}"
    end

    # Under load, too, every response must be complete.
    def check_bytes(spec, report)
      raise Failure, "#{spec.name} did not respond under load" if report.requests.zero?
      return if report.bytes >= report.requests * @bytes

      raise Failure, "#{spec.name} sent #{report.bytes / report.requests} bytes a response, not #{@bytes} and headers"
    end

    # comparisons: [server, Target or nil, figure (:rate)] for each further column; rate: a Target.
    def self.columns(comparisons, rate: nil)
      [Column.new("req/s", :rate, target: rate), Column.spread(:rate), Column.new("p50 ms", :p50_ms, places: 2),
       Column.new("p99 ms", :p99_ms, places: 2), Column.new("CPU s/1000", :cpu_per_1000, places: 4),
       Column.new("PSS MB", :pss_mb, places: 1), Column.roles("of that", :roles),
       *comparisons.map { |comparison| ratio(comparisons.map(&:first), *comparison) },
       Column.new("errors", :errors, over: :sum)]
    end

    HEADINGS = { rate: "x %s", pss_mb: "PSS x %s", p99_ms: "p99 x %s" }.freeze

    # The servers that others are compared with have no target.
    def self.ratio(bases, server, target = nil, figure = :rate)
      Column.ratio(server, figure, heading: format(HEADINGS.fetch(figure), server),
                                   target: ->(row) { target unless bases.include?(row.spec.name) })
    end

    PEERS = [["puma"], ["hyper"]].freeze
    SINGLE_PEERS = [["puma"], ["iodine"], ["falcon"], ["hyper"]].freeze

    # load: a Load, or a callable that makes one.
    def self.kase(name, title, load, servers, comparisons = PEERS, rate: nil)
      Case.new(name: name, title: title, servers: servers, busy: true, measure: load,
               columns: columns(comparisons, rate: rate))
    end

    private_class_method :columns, :ratio

    HELLO = new(File.join(APPS, "hello.ru"), "/", 13)
    # 3322 bytes are the article with its comments in articles.yml.
    ARTICLE = new(File.join(EXAMPLES, "blog/config.ru"), "/articles/counting-swifts", 3322,
                  env: -> { { "BLOG_DATA" => TestFile.path("blog") } })

    CASES = [
      kase("hello", "Hello world, one worker", HELLO, %w[carat puma puma-t5 iodine falcon hyper], SINGLE_PEERS),
      kase("body10k", "A body of 10 KB", new(File.join(APPS, "body10k.ru"), "/10k", 10_240),
           %w[carat carat-w2 puma puma-t5 iodine falcon hyper], SINGLE_PEERS),
      kase("workers2", "Hello world, two workers", HELLO, %w[carat carat-w2 puma puma-w2 hyper]),
      kase("blog", "An article from SQLite", ARTICLE, %w[carat-t5 carat-f256 puma-t5 falcon],
           [["puma-t5", Target.at_least(1.15)], ["puma-t5", Target.below(1), :pss_mb]]),
      # Meant for --duration 600: fragmentation shows only after a while.
      kase("allocate", "Requests that allocate, five threads",
           new(File.join(APPS, "allocate.ru"), "/", 100, connections: 16),
           %w[carat-t5 carat-t5-glibc carat-t5-one-arena puma-t5],
           [["carat-t5-glibc", Target.at_most(0.6), :pss_mb], ["carat-t5-glibc", Target.at_most(1), :p99_ms],
            ["carat-t5-one-arena", nil, :pss_mb], ["puma-t5", nil, :pss_mb]]),
      kase("fibers", "Hello world, threads and fibers", HELLO, %w[carat carat-t3 carat-f256 falcon],
           [["carat", Target.at_least(0.9)], ["carat-t3", Target.at_least(0.9)]]),
      kase("sleep", "Requests that sleep 0.1 s, 200 at once: 2000 a second would be ideal",
           new(File.join(APPS, "sleep.ru"), "/sleep", 35, connections: 200), %w[carat-f256 puma-t200 falcon],
           [["puma-t200"]], rate: Target.at_least(1900))
    ].freeze
  end
end
