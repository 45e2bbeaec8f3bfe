# frozen_string_literal: true

require_relative "big_case"
require_relative "boot_case"
require_relative "compression_case"
require_relative "decode_case"
require_relative "form_case"
require_relative "idle_case"
require_relative "load_case"
require_relative "roster"
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
    BODY10K = app("body10k.ru")

    def self.hello(title, *peers)
      LoadCase.new(title: title, app: HELLO, path: "/", body_bytes: 13, peers: Roster.named(peers))
    end

    UPLOADS = [1, 3].product([false, true], [nil, 10_000_000]).map do |number, chunked, rate|
      UploadCase::Variant.new(megabytes: 115, number: number, chunked: chunked, rate: rate)
    end
    FIFTY_UPLOADS = [false, true].map do |chunked|
      UploadCase::Variant.new(megabytes: 20, number: 50, chunked: chunked, rate: nil)
    end

    CASES = {
      "hello" => hello("Hello world, one worker", "carat", "puma", "puma-t5", "hyper"),
      "body10k" => LoadCase.new(
        title: "A body of 10 KB", app: BODY10K, path: "/10k", body_bytes: 10_240,
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
      )
    }.freeze

    # The cases with these names, all for nil; raises Failure for an unknown name.
    def self.cases(names)
      unknown = names.to_a - CASES.keys
      raise Failure, "no case #{unknown.first.inspect}; there are #{CASES.keys.join(', ')}" unless unknown.empty?

      names ? CASES.slice(*names) : CASES
    end
  end
end
