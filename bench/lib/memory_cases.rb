# frozen_string_literal: true

require_relative "cgroup_case"
require_relative "fork_time_case"
require_relative "leak_case"
require_relative "load_step_case"
require_relative "massacre_case"
require_relative "refork_case"
require_relative "roster"
require_relative "weight_case"

module Bench
  # The cases of memory that follows the load.
  module MemoryCases
    APPS = File.join(Roster::BENCH, "apps")
    WEIGHT = File.join(APPS, "weight.ru")
    # Each hundredth request of a worker collects all garbage.
    GARBAGE = "/garbage?gc=100"
    RAILS = lambda do
      missing = %w[activerecord sqlite3].find { |name| Gem::Specification.find_all_by_name(name).empty? }
      "#{missing} is not installed (apt install ruby-rails ruby-sqlite3)" if missing
    end

    def self.scale(*lines, workers: Roster::SCALE)
      Roster.named(lines.product(workers).map { |line, number| "#{line}-w#{number}" })
    end

    CASES = {
      "weight" => WeightCase.new(
        title: "What workers weigh after 2000 requests each: 40 MB of objects", app: WEIGHT, path: GARBAGE, each: 2000,
        base: "puma", bare: "carat-bare",
        peers: [*scale("carat-warm", "carat-plain", "puma"), *scale("carat-bare", workers: [1, 4])]
      ),
      "rails_weight" => WeightCase.new(
        title: "What workers weigh after 2000 requests each: Rails with 20 models",
        app: File.join(APPS, "rails_weight.ru"), path: GARBAGE, each: 2000, base: "puma", needs: RAILS,
        peers: scale("carat-warm", "carat-plain", "puma", workers: [1, 2, 4, 8])
      ),
      "refork" => ReforkCase.new(
        title: "A refork under load", app: WEIGHT, path: "/", seconds: 20,
        peers: Roster.named(%w[carat-refork-t3 carat-refork-f16])
      ),
      "load_step" => LoadStepCase.new(
        title: "From one connection to 64, and back", app: WEIGHT, path: "/wait", most: 8,
        peers: Roster.named(%w[carat-elastic])
      ),
      "leak" => LeakCase.new(
        title: "100 KB kept of each request, 10 MB/s", app: File.join(APPS, "leak.ru"), path: "/leak", requests: 20_000,
        rate: 100, peers: Roster.named(%w[carat-leak])
      ),
      "massacre" => MassacreCase.new(
        title: "SIGKILL for a worker or the mold every 200 ms", app: WEIGHT, path: "/", seconds: 60,
        peers: Roster.named(%w[carat-kill-t3 carat-kill-f16 carat-kill-refork-t3 carat-kill-refork-f16])
      ),
      "cgroup" => CgroupCase.new(
        title: "A memory cgroup of 256 MB", app: WEIGHT, path: "/garbage", bytes: 256 << 20,
        peers: Roster.named(%w[carat-auto])
      ),
      "fork_time" => ForkTimeCase.new(
        title: "From the order to fork until a worker of 100 MB serves", app: WEIGHT,
        environment: { "BENCH_STOCKS" => "2" }, peers: Roster.named(%w[carat-fork])
      )
    }.freeze
  end
end
