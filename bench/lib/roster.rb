# frozen_string_literal: true

require "rbconfig"
require_relative "bare_hyper"
require_relative "executable"
require_relative "peer"

module Bench
  # The server table.
  module Roster
    BENCH = File.expand_path("..", __dir__)
    CARAT = File.expand_path("../exe/carat", BENCH)
    ADDRESS = "tcp://127.0.0.1:%<port>d"

    def self.puma(name, *options, roles: { "puma" => // }, workers: 1, config: "-")
      Peer.new(name: name, roles: roles, workers: workers, version: -> { Executable.first_line("puma", "--version") },
               command: ["puma", "-C", config, "-e", "production", *options, "-b", ADDRESS, "%<app>s"],
               obstacle: -> { Executable.obstacle("puma", "apt install puma") })
    end

    def self.puma_cluster(workers)
      puma("puma-w#{workers}", "-t", "1:1", "-w", workers.to_s, "--preload",
           roles: { "master" => /\Apuma \d/, "worker" => /\Apuma: cluster worker/ }, workers: workers)
    end

    def self.carat(name, workers)
      Peer.new(name: name, workers: workers,
               roles: { "edge" => /carat-edge/, "mold" => /\Acarat: mold/, "worker" => /\Acarat: worker/ },
               version: -> { Executable.first_line(RbConfig.ruby, CARAT, "--version") },
               command: [RbConfig.ruby, CARAT, "-e", "production", "-t", "1", "-w", workers.to_s,
                         "-b", ADDRESS, "%<app>s"],
               obstacle: -> { "exe/carat is not there" unless File.exist?(CARAT) })
    end

    def self.hyper
      Peer.new(name: "hyper", roles: { "hyper" => // }, workers: 1, version: -> { "hyper #{BareHyper.version}" },
               command: [BareHyper::PROGRAM, "127.0.0.1:%<port>d"], obstacle: -> { BareHyper.obstacle })
    end

    PEERS = [
      carat("carat", 1), carat("carat-w2", 2), carat("carat-w4", 4),
      puma("puma", "-t", "1:1", "-w", "0"), puma("puma-t5", "-t", "5:5", "-w", "0"),
      puma("puma-idle", "-t", "1:1", "-w", "0", config: File.join(BENCH, "apps", "puma_idle.rb")),
      puma_cluster(1), puma_cluster(2), puma_cluster(4),
      hyper
    ].freeze

    # The peers with these names, in this order.
    def self.named(names)
      names.map { |name| PEERS.find { |peer| peer.name == name } }
    end
  end
end
