# frozen_string_literal: true

require "test_helper"
require "support/chaos/ledger"
require "support/chaos/load"

# Processes are killed at every step from one generation to the next while clients are served.
class ReforkChaosTest < Support::IntegrationTest
  # Each step takes long enough that somebody can be killed in it.
  CONFIG = "on_worker_boot { sleep 0.3 }\nbefore_refork { sleep 0.3 }\n"
  # The lines of a refork, in their order, and who is killed when each is written: whom it names, or the mold.
  STEPS = [
    [/will be replaced .* pid=(\d+) reason="promotion to mold/, :named],
    [/becomes the next mold .* pid=(\d+) /, :mold],
    [/mold ready gen=\d+ pid=(\d+) /, :none], # the one that was on its way takes over
    [/will be replaced .* pid=(\d+) reason="older than the mold/, :named],
    [/becomes the next mold .* pid=(\d+) /, :none],
    [/mold ready gen=\d+ pid=(\d+) /, :named], # the other workers are not replaced yet
    [/mold ready gen=\d+ pid=(\d+) /, :none],
    [/becomes the next mold .* pid=(\d+) /, :named]
  ].freeze

  def test_every_get_is_answered_whoever_is_killed
    server = serve(Support::Chaos::Ledger::APP, workers: 3, threads: 2, args: %w[--refork 100], config: CONFIG)
    await_workers(server, 3)
    load = Support::Chaos::Load.new(server, "r", random: Random.new(0), kinds: %i[get])
    kill_at_every_step(server)

    assert_equal [200], load.finish.map(&:status).uniq
    eventually(message: "a mold and its workers") { whole?(server) }
    assert_equal 0, server.stop.exitstatus
    await_emptiness(server)
  ensure
    load&.finish
  end

  private

  def kill_at_every_step(server)
    seen = server.log.size
    STEPS.each do |line, victim|
      found = eventually(message: line.inspect) { server.log.match(line, seen) }
      seen = found.end(0)
      mold = found.pre_match.scan(/mold ready gen=\d+ pid=(\d+)/).flatten.last
      victims = { named: found[1], mold: mold, none: nil }
      Support::ProcessTree.kill([*victims.fetch(victim)].map(&:to_i))
    end
  end

  def whole?(server)
    titles = server.children.map { |pid| Support::ProcessTree.title(pid) }
    titles.grep(/worker=/).size == 3 && titles.grep(/mold gen=/).size == 1
  end
end
