# frozen_string_literal: true

require_relative "../../../test/support/eventually"

module Bench
  # How a server follows a new memory limit of its container, while it serves.
  class FollowedLimit
    include Support::Eventually

    SECONDS = 300
    MEBI = 1024 * 1024
    # Limits in MiB, and what a worker keeps in bytes.
    LIMITS = [320, 1024, 320].freeze
    KEPT = 60_000_000
    # Memory is read every 5 s, and one worker ends after another.
    SETTLE_SECONDS = 15
    SAMPLES = 8
    private_constant :SECONDS, :MEBI, :SETTLE_SECONDS, :SAMPLES

    # The block runs a subcommand in the container, and returns what it prints as JSON.
    def initialize(&carat)
      @carat = carat
    end

    # What the server says when its budget is 80 % of the limit, and its processes are within it.
    # limit: in MiB
    def report(limit)
      budget, clients = eventually(message: "the limit", within: SECONDS) do
        found = @carat.call("memory").values_at("budget", "clients")
        allowed, used = found.first.values_at("limit", "used")
        found if ((limit * MEBI * 0.8) - allowed).abs < MEBI && used <= allowed
      end
      sleep SETTLE_SECONDS
      workers = Array.new(SAMPLES) { @carat.call("status")["processes"].size }
      "budget #{budget["limit"] / MEBI} MiB, client_memory #{clients["limit"] / MEBI} MiB, workers #{workers.join(" ")}"
    end
  end
end
