# frozen_string_literal: true

require "json"
require "test_helper"
require "support/controlled_server"

# A canary about which the server decides by itself (`canary 50, judge: true`).
class CanaryJudgeTest < Support::IntegrationTest
  include Support::ControlledServer

  CODE = <<~'RUBY'
    VERSION = File.read("version").strip
    KEPT = []
    number = 0
    run(lambda do |_env|
      number += 1
      exit!(1) if VERSION == "dies"
      sleep 0.004 if VERSION == "slow"
      KEPT << "x" * 100_000 if VERSION == "keeps"
      Array.new(3000) { Object.new } if VERSION == "allocates"
      # After the response, which is not slower for it: 0.8 ms.
      cpu_time = -> { Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) }
      burn = -> { cpu_time.call.then { |began| nil while cpu_time.call < began + 0.0008 } if VERSION == "burns" }
      body = Enumerator.new { |chunks| chunks << VERSION }
      body.define_singleton_method(:close, &burn)
      [VERSION == "bug" && (number % 5).zero? ? 500 : 200, {}, body]
    end)
  RUBY

  def test_code_that_is_not_worse_goes_on
    server, out = restarted("same")

    assert_equal "carat: canary: 50 % of requests go to generation 2; the server decides\n", out
    assert_equal %w[go] + ["not worse"], decision(server).values_at("decision", "cause")
    old, new = decision(server).values_at("old", "new")

    assert_operator [old, new].map { |code| code["requests"] }.min, :>=, 400
    await_log(server, /info canary judged: the new code goes on cause="not worse" gen=2 old_requests=\d+ old_errors=0 /)
    eventually(message: "the new code alone") { versions(server, 20) == { "same" => 20 } }
  end

  def test_code_that_fails_goes_back
    server, = restarted("bug")

    assert_equal ["rollback", "more errors"], decision(server).values_at("decision", "cause")
    assert_match(/^canary: generation 2 was judged: rollback, more errors$/, carat(server, "status").first)
    assert_equal({ "1" => 20 }, versions(server, 20))
  end

  def test_code_that_is_slower_goes_back
    server, = restarted("slow")

    assert_equal %w[rollback slower], decision(server).values_at("decision", "cause")
    old, new = decision(server).values_at("old", "new")

    assert_operator new["p50"], :>, old["p50"]
    assert_equal({ "1" => 20 }, versions(server, 20))
  end

  { "burns" => ["more CPU time", "cpu_per_request"], "allocates" => ["more allocations", "objects_per_request"],
    "keeps" => ["more memory", "private_bytes_per_worker"] }.each do |version, (cause, figure)|
    define_method(:"test_code_that_#{version}_goes_back") do
      server, = restarted(version)

      assert_equal ["rollback", cause], decision(server).values_at("decision", "cause")
      old, new = decision(server).values_at("old", "new").map { |code| code.fetch(figure) }

      assert_operator new, :>, old * 1.2
      assert_equal({ "1" => 20 }, versions(server, 20))
    end
  end

  def test_code_whose_workers_die_goes_back
    server, = restarted("dies")

    assert_equal ["rollback", "workers died"], decision(server).values_at("decision", "cause")
    assert_equal({ "1" => 20 }, versions(server, 20))
  end

  private

  # A server that has been restarted with another version, and has decided. What the command printed comes with it.
  def restarted(version)
    server = start(workers: 1, config: "canary 50, judge: true\n")
    server.directory.write("version", version)
    out, = carat(server, "restart")
    eventually(message: "a decision") do
      versions(server, 50)
      server.log.match?(/canary judged/)
    end
    [server, out]
  end

  def decision(server)
    status(server).fetch("canary_decision")
  end
end
