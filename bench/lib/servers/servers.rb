# frozen_string_literal: true

require "rbconfig"
require_relative "../../../lib/carat/native_path"

module Bench
  # The table of servers.
  module Servers
    CARAT = File.expand_path("../../../exe/carat", __dir__)
    HYPER = RustProgram.new("bare-hyper")
    POOL = File.expand_path("../../apps/pools_config.rb", __dir__)
    ADDRESS = "tcp://127.0.0.1:%<port>d"
    APP = "%<app>s"
    # /tmp may be in memory, and bodies must go to a disk with every server.
    PUMA_ENV = { "TMPDIR" => "/var/tmp" }.freeze

    def self.puma(name, threads, workers = 0, config: "-", env: {})
      cluster = { "master" => /\Apuma \d/, "worker" => /\Apuma: cluster worker/ }
      size = ["-t", threads, "-w", workers.to_s, *("--preload" if workers.positive?)]
      ServerSpec.new(name: name, env: PUMA_ENV.merge(env), workers: [workers, 1].max,
                     roles: workers.positive? ? cluster : { "puma" => // },
                     version: -> { Executable.first_line("puma", "--version") },
                     command: ["puma", "-C", config, "-e", "production", *size, "-b", ADDRESS, APP],
                     obstacle: -> { Executable.obstacle("puma", "gem install puma, or apt install puma") })
    end

    # How long a boot may take is the business of Server.
    PATIENCE = { "CARAT_BOOT_TIMEOUT" => "600" }.freeze

    # workers: a number, a range of them, or "auto"; app: a rackup file in place of the case's.
    def self.carat(name, workers, *options, threads: 1, fibers: nil, env: {}, app: APP)
      size = fibers ? ["-f", fibers.to_s] : ["-t", threads.to_s]
      ServerSpec.new(name: name, workers: workers.is_a?(Integer) ? workers : 1, env: { **PATIENCE, **env },
                     roles: { "edge" => /carat-edge/, "mold" => /\Acarat: mold/, "worker" => /\Acarat: worker/ },
                     version: -> { Executable.first_line(RbConfig.ruby, CARAT, "--version") },
                     command: [RbConfig.ruby, CARAT, "-e", "production", *size, "-w", workers.to_s, *options, "-b",
                               ADDRESS, app],
                     obstacle: -> { Carat::NativePath.missing unless Carat::NativePath.edge })
    end

    def self.hyper
      ServerSpec.new(name: "hyper", roles: { "hyper" => // }, workers: 1, obstacle: -> { HYPER.obstacle },
                     version: -> { "hyper #{RustProgram.version("hyper")}" },
                     command: [HYPER.path, "127.0.0.1:%<port>d"])
    end

    # Its application is a directory with `public`.
    def self.nginx
      configure = 'sed "s|PORT|$1|; s|SITE|$2|" "$0" >"$2/nginx.conf" && exec nginx -c "$2/nginx.conf"'
      ServerSpec.new(name: "nginx", roles: { "master" => /master process/, "worker" => /worker process/ }, workers: 1,
                     version: -> { Executable.first_line("nginx", "-v") },
                     command: ["sh", "-c", configure, File.join(APPS, "static.conf"), "%<port>d", "%<app>s"],
                     obstacle: -> { Executable.obstacle("nginx", "apt install nginx-light") })
    end

    # Another server in C, of one process and one thread.
    def self.iodine
      version = 'puts "iodine #{Gem::Specification.find_by_name("iodine").version}"'
      ServerSpec.new(name: "iodine", env: { "RACK_ENV" => "production" }, roles: { "iodine" => // }, workers: 1,
                     version: -> { Executable.first_line(RbConfig.ruby, "-e", version) },
                     command: ["iodine", "-t", "1", "-w", "1", "-b", "127.0.0.1", "-p", "%<port>d", APP],
                     obstacle: -> { Executable.obstacle("iodine", "gem install iodine") })
    end

    # A server in Ruby of one worker, with a fiber for each request. It would load the Gemfile of the current directory.
    def self.falcon
      ServerSpec.new(name: "falcon", env: { "RACK_ENV" => "production" }, workers: 1,
                     roles: { "controller" => /serve --bind/, "falcon" => // },
                     version: -> { Executable.first_line("falcon", "--version") },
                     command: ["env", "-C", "/", "falcon", "serve", "--bind", "http://127.0.0.1:%<port>d", "--forked",
                               "--count", "1", "--config", APP],
                     obstacle: -> { Executable.obstacle("falcon", "gem install falcon") })
    end

    # No server: a way to make many requests in one program.
    def self.client(name, *version, obstacle: -> {})
      ServerSpec.new(name: name, roles: { "client" => // }, workers: 1, command: [], obstacle: obstacle,
                     version: -> { Executable.first_line(RbConfig.ruby, *version) })
    end

    ASYNC = ["-e", 'gem "async", ">= 2"; puts "async #{Gem.loaded_specs["async"].version}"'].freeze
    ASYNC_OBSTACLE = lambda do
      "the async gem 2 is not installed" unless system(RbConfig.ruby, *ASYNC, out: File::NULL, err: File::NULL)
    end

    CABLE_OBSTACLE = lambda do
      "Action Cable is older than 7.0" if Gem::Specification.find_all_by_name("actioncable", ">= 7.0").empty?
    end

    # Carat respects the variable when it is set, and glibc reads 0 as its own default: eight arenas a core.
    STOCK_ARENAS = { "MALLOC_ARENA_MAX" => "0" }.freeze
    DEFLATER = { "BENCH_DEFLATER" => "1" }.freeze

    SPEED = [
      carat("carat", 1), carat("carat-w2", 2), carat("carat-w4", 4), carat("carat-t3", 1, threads: 3),
      carat("carat-t3-w2", 2, threads: 3), carat("carat-t3-yjit", 1, threads: 3), puma("puma-t3-yjit", "3:3"),
      carat("carat-t5", 1, threads: 5), carat("carat-t5-fifo", 1, "--queue", "fifo", threads: 5),
      carat("carat-t5-pool", 1, "-C", POOL, threads: 5),
      carat("carat-t5-cable", 1, "--cable", "/cable", threads: 5, env: { "CABLE_ADAPTER" => "carat" })
        .with(obstacle: CABLE_OBSTACLE),
      carat("carat-f256", 1, fibers: 256), carat("carat-f10000", 1, fibers: 10_000),
      carat("carat-t5-glibc", 1, "--allocator", "system", threads: 5, env: STOCK_ARENAS),
      carat("carat-t5-one-arena", 1, "--allocator", "system", threads: 5),
      carat("carat-w8", 8), carat("carat-w32", 32),
      carat("carat-stream", 1, "--request-body", "stream"), carat("carat-decode", 1, "--decode-requests"),
      carat("carat-form", 1, "--multipart", "edge", threads: 3), carat("carat-compress", 1, "--compress"),
      carat("carat-deflater", 1, env: DEFLATER), puma("puma-deflater", "1:1", env: DEFLATER),
      puma("puma-t5-deflater", "5:5", env: DEFLATER), puma("puma-t3", "3:3"),
      puma("puma", "1:1"), puma("puma-t5", "5:5"), puma("puma-t10", "10:10"), puma("puma-t200", "200:200"),
      puma("puma-t10000", "0:10000"), puma("puma-idle", "1:1", config: File.join(APPS, "puma_idle.rb")), hyper, iodine,
      falcon, carat("carat-static", 1, "--static", "%<app>s/public", app: "%<app>s/config.ru"), nginx,
      client("carat-run", CARAT, "--version"), client("async", *ASYNC, obstacle: ASYNC_OBSTACLE),
      client("ruby-threads", "--version"), client("ruby-blocking", "--version")
    ].freeze

    SCALE = [1, 2, 4, 8, 10].freeze
    JSON_LOG = %w[--log-format json].freeze
    WARM = [*JSON_LOG, *%w[--warm-up / --warm-up /garbage]].freeze
    PLAIN = [*JSON_LOG, *%w[--gc ruby --allocator system --refork off]].freeze
    # Once, when there has been time to measure what was before; or again and again.
    REFORK = [*WARM, "--refork", "20000,1000000000"].freeze
    REFORKS = [*WARM, "--refork", "500"].freeze

    # The first refork soon, the others so far apart that each generation can be watched.
    SOAK = [*JSON_LOG, "--refork", "2000,40000", "--worker-idle-timeout", "3", "--multipart", "edge", "--compress",
            "--decode-requests"].freeze

    MEMORY = [
      *SCALE.map { |workers| carat("carat-warm-w#{workers}", workers, *WARM) },
      *SCALE.map { |workers| carat("carat-default-w#{workers}", workers) },
      *SCALE.map { |workers| carat("carat-plain-w#{workers}", workers, *PLAIN) },
      *SCALE.map { |workers| puma("puma-w#{workers}", "1:1", workers) },
      *[1, 4].map { |workers| carat("carat-bare-w#{workers}", workers, *JSON_LOG, app: File.join(APPS, "bare.ru")) },
      carat("carat-refork-w4", 4, *JSON_LOG, "--refork", "1500,1000000000"),
      carat("carat-once-w4", 4, *JSON_LOG, "--refork", "off"),
      carat("carat-warm-once-w4", 4, *WARM, "--refork", "off"),
      carat("carat-refork-t3", 4, *REFORK, threads: 3), carat("carat-refork-f16", 4, *REFORK, fibers: 16),
      carat("carat-restart-t3", 2, "--memory", "1GB", threads: 3),
      carat("carat-restart-f16", 2, "--memory", "1GB", fibers: 16),
      carat("carat-elastic", 1..8, *WARM, "--worker-idle-timeout", "5"),
      carat("carat-leak", 2, *JSON_LOG, "--worker-memory", "150MB", threads: 3),
      carat("carat-kill-t3", 4, *WARM, threads: 3), carat("carat-kill-f16", 4, *WARM, fibers: 16),
      carat("carat-kill-refork-t3", 4, *REFORKS, threads: 3), carat("carat-kill-refork-f16", 4, *REFORKS, fibers: 16),
      carat("carat-auto", "auto", *WARM), carat("carat-fork", 1, *WARM, threads: 3),
      carat("carat-soak-t3", 1..4, *SOAK, threads: 3),
      carat("carat-soak-f16", 1..4, *SOAK, "--request-body", "stream", fibers: 16)
    ].freeze

    MIMALLOC = Dir["/usr/lib/*/libmimalloc.so.*"].first.to_s
    ALLOCATORS = [
      carat("carat-jemalloc", 2, threads: 5), carat("carat-one-arena", 2, "--allocator", "system", threads: 5),
      carat("carat-mimalloc", 2, "--allocator", "system", threads: 5, env: { "LD_PRELOAD" => MIMALLOC })
        .with(obstacle: -> { "mimalloc is not installed (apt install libmimalloc2.0)" if MIMALLOC.empty? })
    ].freeze

    JEMALLOC = Dir["/usr/lib/*/libjemalloc.so.2"].first.to_s
    WORKERS = [2, 4].flat_map do |workers|
      jemalloc = puma("jemalloc-puma-t5-w#{workers}", "5:5", workers, env: { "LD_PRELOAD" => JEMALLOC })
      [carat("carat-t5-w#{workers}", workers, threads: 5), puma("puma-t5-w#{workers}", "5:5", workers),
       carat("carat-norefork-t5-w#{workers}", workers, "--refork", "off", threads: 5),
       jemalloc.with(obstacle: -> { jemalloc.obstacle.call || missing_jemalloc })]
    end.freeze

    def self.missing_jemalloc = ("jemalloc is not installed (apt install libjemalloc2)" if JEMALLOC.empty?)

    # Full collections are Ruby's, as where the application collects out of band; all else is as with the cycle.
    NO_CYCLE = { "RUBYOPT" => "-r#{File.join(APPS, "no_cycle")}" }.freeze
    # A refork would fall into the load.
    ONCE = %w[--refork off].freeze
    COLLECTIONS = [
      *{ "cycle" => {}, "nocycle" => NO_CYCLE }.flat_map do |name, env|
        [carat("carat-#{name}-w2", 2, *ONCE, env: env),
         *[1, 2].map { |workers| carat("carat-#{name}-t3-w#{workers}", workers, *ONCE, threads: 3, env: env) },
         carat("carat-#{name}-f64-w2", 2, *ONCE, fibers: 64, env: env)]
      end,
      puma("puma-t3-w2", "3:3", 2), puma("puma-oob-t3-w2", "3:3", 2, config: File.join(APPS, "puma_out_of_band.rb"))
    ].freeze

    ALL = [*SPEED, *MEMORY, *ALLOCATORS, *WORKERS, *COLLECTIONS].to_h { |spec| [spec.name, spec] }.freeze

    # The servers with these names, in this order.
    def self.named(names) = ALL.fetch_values(*names)

    # Names of servers or families, with a minus those that are left out, or nil for all; raises Failure for an unknown
    # one.
    def self.checked(names)
      known = ALL.values.flat_map { |spec| [spec.name, spec.family] }.uniq
      unknown = names.to_a.map { |name| name.delete_prefix("-") } - known
      raise Failure, "no server #{unknown.first.inspect}; there are #{known.join(", ")}" if unknown.any?

      names
    end
  end
end
