# frozen_string_literal: true

require "minitest/autorun"
require "json"
require "tempfile"
require_relative "../../../../bench/lib/bench"

class BenchResultsTest < Minitest::Test
  def test_the_file_has_every_sample_of_every_round
    kase = Bench::Cases.named(%w[boot]).first
    rounds = { Bench::Servers.named(%w[puma-w2]).first => [{ nil => { pss_mb: 1.5 } }, { nil => { pss_mb: 2.5 } }] }
    results = Bench::Results.new(command: "bench/run", machine: "here", versions: ["puma 6"])
    results.add(kase, kase.rows(rounds))

    assert_equal [{ "server" => "puma-w2", "workers" => 2, "variant" => nil,
                    "samples" => [{ "pss_mb" => 1.5 }, { "pss_mb" => 2.5 }] }],
                 written(results).dig("cases", "boot", "rows")
  end

  private

  def written(results)
    Tempfile.create("results-") do |file|
      results.write(file.path)
      JSON.parse(file.read)
    end
  end
end
