# frozen_string_literal: true

require_relative "big_case"
require_relative "boot_case"
require_relative "bound"
require_relative "burst_case"
require_relative "compression_case"
require_relative "database"
require_relative "decode_case"
require_relative "form_case"
require_relative "idle_case"
require_relative "load_case"
require_relative "memory_cases"
require_relative "net_http_case"
require_relative "roster"
require_relative "sleepers_case"
require_relative "slow_readers_case"
require_relative "tiny_post_case"
require_relative "upload_case"

module Bench
  # The case table.
  module Catalogue
    def self.app(name)
      File.join(Roster::BENCH, "apps", name)
    end

    HELLO = app("hello.ru")
    HELLO_PAGE = Page.new(app: HELLO, path: "/", bytes: 13)
    BODY10K = app("body10k.ru")

    def self.hello(title, *peers, **options)
      LoadCase.new(title: title, page: HELLO_PAGE, peers: Roster.named(peers), **options)
    end

    # A column with the ratio to this server and what is asked of it.
    def self.beside(base, bound, figure: :rate)
      Comparison.new(base: base, figure: figure, bound: bound)
    end

    # Milliseconds until a server answers => what is asked of the ratio to each other way to make the requests.
    DELAYS = { 0 => 2.2, 10 => 2.2, 50 => nil, 100 => nil, 500 => 1.2 }.transform_values do |threads|
      { "ruby-threads" => threads && Bound.at_least(threads), "async" => Bound.at_least(1) }
    end

    UPLOADS = [1, 3].product([false, true], [nil, 10_000_000]).map do |number, chunked, rate|
      UploadCase::Variant.new(megabytes: 115, number: number, chunked: chunked, rate: rate)
    end
    FIFTY_UPLOADS = [false, true].map do |chunked|
      UploadCase::Variant.new(megabytes: 20, number: 50, chunked: chunked, rate: nil)
    end

    # Its size is that of the article with its comments in articles.yml.
    ARTICLE = Page.new(app: File.expand_path("../examples/blog/config.ru", Roster::BENCH),
                       path: "/articles/counting-swifts", bytes: 3322,
                       environment: -> { { "BLOG_DATA" => Material.folder("blog") } })

    def self.rails(title, bursts, paths, *peers, **options)
      BurstCase.new(title: title, app: app("rails_pg.ru"), environment: Database.method(:environment), paths: paths,
                    needs: Database.method(:obstacle), peers: Roster.named(peers), **options,
                    bursts: bursts.map { |burst| BurstCase::Burst.new(**burst) })
    end

    CASES = {
      "hello" => hello("Hello world, one worker", "carat", "puma", "puma-t5", "hyper"),
      "body10k" => LoadCase.new(
        title: "A body of 10 KB", page: Page.new(app: BODY10K, path: "/10k", bytes: 10_240),
        peers: Roster.named(%w[carat carat-w2 puma puma-t5 hyper])
      ),
      "workers2" => hello("Hello world, two workers", "carat", "carat-w2", "puma", "puma-w2", "hyper"),
      "boot" => BootCase.new(
        title: "Memory after boot", app: HELLO,
        peers: Roster.named(%w[carat carat-w2 carat-w4 puma puma-w1 puma-w2 puma-w4 hyper])
      ),
      "idle" => IdleCase.new(
        title: "Idle keep-alive connections", app: HELLO,
        peers: Roster.named(%w[carat puma-idle hyper])
      ),
      "upload" => UploadCase.new(
        title: "Uploads of 115 MB", app: app("digest.ru"), peers: Roster.named(%w[carat carat-stream puma]),
        variants: UPLOADS,
        asked: ->(variant) { [Bound.at_most(1 + (0.25 * variant.number)), Bound.at_most(1)] }
      ),
      "uploads50" => UploadCase.new(
        title: "Fifty uploads of 20 MB at once", app: app("digest.ru"),
        peers: Roster.named(%w[carat carat-stream puma]), variants: FIFTY_UPLOADS,
        asked: ->(_) { [Bound.at_most(16), Bound.at_most(1)] }
      ),
      "form" => FormCase.new(
        title: "A file of 322 MB in a form", app: app("form.ru"), megabytes: 322,
        peers: Roster.named(%w[carat-form carat-t3 puma-t3])
      ),
      "tinypost" => TinyPostCase.new(
        title: "Chunked POSTs of two bytes", app: app("tiny.ru"), peers: Roster.named(%w[carat puma])
      ),
      "decode" => DecodeCase.new(
        title: "Coded request bodies", app: app("size.ru"), peers: Roster.named(%w[carat-decode]),
        sizes: [[10_000_000, 1], [10_000_000, 4], [1_000_000_000, 1]]
      ),
      "slowreaders" => SlowReadersCase.new(
        title: "250 clients that read 3 MB at 100 KB/s", app: app("body3m.ru"), clients: 250,
        peers: Roster.named(%w[carat puma-t5])
      ),
      "big" => BigCase.new(
        title: "100 MB in pieces of 64 KiB", app: app("big.ru"), peers: Roster.named(%w[carat puma])
      ),
      "gzip" => CompressionCase.new(
        title: "JSON of 100 KB, compressed", app: app("json100k.ru"),
        codings: { "carat-compress" => %w[gzip zstd br], "carat-deflater" => %w[gzip],
                   "puma-deflater" => %w[gzip], "puma-t5-deflater" => %w[gzip] }
      ),
      "blog" => LoadCase.new(
        title: "An article from SQLite", page: ARTICLE, peers: Roster.named(%w[carat-t5 carat-f256 puma-t5]),
        comparisons: [beside("puma-t5", Bound.at_least(1.15)), beside("puma-t5", Bound.below(1), figure: :pss)]
      ),
      # Meant for --duration 600: what is freed among what stays shows only after a while.
      "allocate" => LoadCase.new(
        title: "Requests that allocate, five threads", page: Page.new(app: app("allocate.ru"), path: "/", bytes: 100),
        peers: Roster.named(%w[carat-t5 carat-t5-glibc carat-t5-one-arena puma-t5]), connections: 16,
        comparisons: [beside("carat-t5-glibc", Bound.at_most(0.6), figure: :pss),
                      beside("carat-t5-glibc", Bound.at_most(1), figure: :p99),
                      beside("carat-t5-one-arena", nil, figure: :pss), beside("puma-t5", nil, figure: :pss)]
      ),
      "fibers" => hello(
        "Hello world, threads and fibers", "carat", "carat-t3", "carat-f256",
        comparisons: %w[carat carat-t3].map { |base| beside(base, Bound.at_least(0.9)) }
      ),
      "sleep" => LoadCase.new(
        title: "Requests that sleep 0.1 s, 200 at once: 2000 a second would be ideal",
        page: Page.new(app: app("sleep.ru"), path: "/sleep", bytes: 35), connections: 200,
        peers: Roster.named(%w[carat-f256 puma-t200]), comparisons: [beside("puma-t200", nil)],
        rate: Bound.at_least(1900)
      ),
      "sleepers" => SleepersCase.new(
        title: "10 000 requests that sleep at once", app: app("sleep.ru"),
        peers: Roster.named(%w[carat-f10000 puma-t10000])
      ),
      "rails_sleep" => rails(
        "Rails: ten requests that wait 1 s for the database", [{ requests: 10, at_once: 10, every: 0 }],
        %w[/sleep /sleep], "carat-f256", "puma", "puma-t10", seconds: Bound.at_most(1.2)
      ),
      "rails_mix" => rails(
        "Rails: 1000 queries, 200 at once, of which some wait 1 s",
        [200, 100, 50, 20, 10].map { |every| { requests: 1000, at_once: 200, every: every } },
        %w[/ /sleep], "carat-f256", "puma-w4", base: "puma-w4"
      ),
      "gets20" => NetHttpCase.new(
        title: "20 GETs by Net::HTTP to a server that takes 1 s", number: 20, delays: { 1000 => {} },
        seconds: Bound.at_most(1.15), peers: Roster.named(%w[carat-run async ruby-threads ruby-blocking])
      ),
      "nethttp" => NetHttpCase.new(
        title: "1000 GETs by Net::HTTP", number: 1000, delays: DELAYS,
        peers: Roster.named(%w[carat-run async ruby-threads ruby-blocking])
      ),
      **MemoryCases::CASES
    }.freeze

    # The cases with these names, all for nil; raises Failure for an unknown name.
    def self.cases(names)
      unknown = names.to_a - CASES.keys
      raise Failure, "no case #{unknown.first.inspect}; there are #{CASES.keys.join(', ')}" unless unknown.empty?

      names ? CASES.slice(*names) : CASES
    end
  end
end
