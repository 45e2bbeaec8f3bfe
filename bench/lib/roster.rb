# frozen_string_literal: true

require "rbconfig"
require_relative "executable"
require_relative "peer"
require_relative "rust_program"

module Bench
  # The server table.
  module Roster
    BENCH = File.expand_path("..", __dir__)
    CARAT = File.expand_path("../exe/carat", BENCH)
    HYPER = RustProgram.new("bare-hyper")
    ADDRESS = "tcp://127.0.0.1:%<port>d"
    APP = "%<app>s"

    # Bodies go to the disk with every server: /tmp may be memory.
    PUMA_ENVIRONMENT = { "TMPDIR" => "/var/tmp" }.freeze

    def self.puma(name, *options, roles: { "puma" => // }, workers: 1, config: "-", env: {})
      Peer.new(name: name, roles: roles, workers: workers, version: -> { Executable.first_line("puma", "--version") },
               env: PUMA_ENVIRONMENT.merge(env),
               command: ["puma", "-C", config, "-e", "production", *options, "-b", ADDRESS, APP],
               obstacle: -> { Executable.obstacle("puma", "apt install puma") })
    end

    def self.puma_cluster(workers)
      puma("puma-w#{workers}", "-t", "1:1", "-w", workers.to_s, "--preload",
           roles: { "master" => /\Apuma \d/, "worker" => /\Apuma: cluster worker/ }, workers: workers)
    end

    # workers: a number, a range of them, or "auto"; app: a rackup file of its own in place of the case's.
    def self.carat(name, workers, *options, threads: 1, fibers: nil, env: {}, app: APP)
      size = fibers ? ["-f", fibers.to_s] : ["-t", threads.to_s]
      Peer.new(name: name, workers: workers.is_a?(Integer) ? workers : 1, env: env,
               roles: { "edge" => /carat-edge/, "mold" => /\Acarat: mold/, "worker" => /\Acarat: worker/ },
               version: -> { Executable.first_line(RbConfig.ruby, CARAT, "--version") },
               command: [RbConfig.ruby, CARAT, "-e", "production", *size, "-w", workers.to_s, *options, "-b", ADDRESS,
                         app],
               obstacle: -> { "exe/carat is not there" unless File.exist?(CARAT) })
    end

    def self.hyper
      Peer.new(name: "hyper", roles: { "hyper" => // }, workers: 1,
               version: -> { "hyper #{RustProgram.version('hyper')}" },
               command: [HYPER.path, "127.0.0.1:%<port>d"], obstacle: -> { HYPER.obstacle })
    end

    # A way to make many requests in one program, beside the others of one case.
    def self.client(name, *version, obstacle: -> {})
      Peer.new(name: name, roles: { "client" => // }, workers: 1, command: [], obstacle: obstacle,
               version: -> { Executable.first_line(RbConfig.ruby, *version) })
    end

    ASYNC = ["-e", 'gem "async", ">= 2"; puts "async #{Gem.loaded_specs["async"].version}"'].freeze
    ASYNC_OBSTACLE = lambda do
      "the async gem 2 is not installed" unless system(RbConfig.ruby, *ASYNC, out: File::NULL, err: File::NULL)
    end

    # Who sets the variable is left alone by Carat, and glibc takes 0 for its own default: eight arenas a core.
    STOCK_ARENAS = { "MALLOC_ARENA_MAX" => "0" }.freeze
    DEFLATER = { "BENCH_DEFLATER" => "1" }.freeze

    PEERS = [
      carat("carat", 1), carat("carat-w2", 2), carat("carat-w4", 4), carat("carat-t3", 1, threads: 3),
      carat("carat-t5", 1, threads: 5), carat("carat-f256", 1, fibers: 256), carat("carat-f10000", 1, fibers: 10_000),
      carat("carat-t5-glibc", 1, "--allocator", "system", threads: 5, env: STOCK_ARENAS),
      carat("carat-t5-one-arena", 1, "--allocator", "system", threads: 5),
      carat("carat-stream", 1, "--request-body", "stream"), carat("carat-decode", 1, "--decode-requests"),
      carat("carat-form", 1, "--multipart", "edge", threads: 3),
      carat("carat-compress", 1, "--compress"), carat("carat-deflater", 1, env: DEFLATER),
      puma("puma-deflater", "-t", "1:1", "-w", "0", env: DEFLATER),
      puma("puma-t5-deflater", "-t", "5:5", "-w", "0", env: DEFLATER),
      puma("puma-t3", "-t", "3:3", "-w", "0"),
      puma("puma", "-t", "1:1", "-w", "0"), puma("puma-t5", "-t", "5:5", "-w", "0"),
      puma("puma-idle", "-t", "1:1", "-w", "0", config: File.join(BENCH, "apps", "puma_idle.rb")),
      puma("puma-t10", "-t", "10:10", "-w", "0"),
      puma("puma-t200", "-t", "200:200", "-w", "0"), puma("puma-t10000", "-t", "0:10000", "-w", "0"),
      puma_cluster(1), puma_cluster(2), puma_cluster(4),
      hyper,
      client("carat-run", CARAT, "--version"), client("async", *ASYNC, obstacle: ASYNC_OBSTACLE),
      client("ruby-threads", "--version"), client("ruby-blocking", "--version")
    ].freeze

    # What the cases of memory compare.
    SCALE = [1, 2, 4, 8, 10].freeze
    WARM = %w[--warm-up / --warm-up /garbage].freeze
    PLAIN = %w[--gc ruby --allocator system --refork off].freeze
    # Once, when there has been time to see what was before; and again and again.
    REFORK = %w[--refork 20000,1000000000].freeze
    REFORKS = %w[--refork 500].freeze
    JSON_LOG = %w[--log-format json].freeze
    BARE = File.join(BENCH, "apps", "bare.ru")

    def self.carat_logged(name, workers, *options, **size)
      carat(name, workers, *JSON_LOG, *options, **size)
    end

    MEMORY_PEERS = [
      *SCALE.map { |workers| carat_logged("carat-warm-w#{workers}", workers, *WARM) },
      *SCALE.map { |workers| carat_logged("carat-plain-w#{workers}", workers, *PLAIN) },
      *[1, 4].map { |workers| carat_logged("carat-bare-w#{workers}", workers, app: BARE) },
      *(SCALE - [1, 2, 4]).map { |workers| puma_cluster(workers) },
      carat_logged("carat-refork-t3", 4, *WARM, *REFORK, threads: 3),
      carat_logged("carat-refork-f16", 4, *WARM, *REFORK, fibers: 16),
      carat_logged("carat-elastic", 1..8, *WARM, "--worker-idle-timeout", "5"),
      carat_logged("carat-leak", 2, "--worker-memory", "150MB", threads: 3),
      carat_logged("carat-kill-t3", 4, *WARM, threads: 3), carat_logged("carat-kill-f16", 4, *WARM, fibers: 16),
      carat_logged("carat-kill-refork-t3", 4, *WARM, *REFORKS, threads: 3),
      carat_logged("carat-kill-refork-f16", 4, *WARM, *REFORKS, fibers: 16),
      carat_logged("carat-auto", "auto", *WARM),
      carat_logged("carat-fork", 1, *WARM, threads: 3)
    ].freeze

    ALL = [*PEERS, *MEMORY_PEERS].freeze

    # The peers with these names, in this order.
    def self.named(names)
      names.map { |name| ALL.find { |peer| peer.name == name } }
    end
  end
end
