# frozen_string_literal: true

require_relative "boot_case"
require_relative "idle_case"
require_relative "load_case"
require_relative "roster"

module Bench
  # The case table.
  module Catalogue
    HELLO = File.join(Roster::BENCH, "apps", "hello.ru")
    BODY10K = File.join(Roster::BENCH, "apps", "body10k.ru")

    def self.hello(title, *peers)
      LoadCase.new(title: title, app: HELLO, path: "/", body_bytes: 13, peers: Roster.named(peers))
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
