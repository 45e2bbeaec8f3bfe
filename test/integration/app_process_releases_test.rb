# frozen_string_literal: true

require "json"
require "test_helper"

# The further processes of the application while code, molds, and edges follow each other.
class AppProcessReleasesTest < Support::IntegrationTest
  include Support::ControlledServer
  include Support::Told

  OK = "run ->(_env) { [200, {}, []] }"

  def test_a_new_edge_starts_its_own_when_that_of_the_old_one_has_ended
    server = serve(OK, config: LOOP, args: CONTROL_SOCKET)
    old = await_told(server, 1).last[1]
    assert_equal 0, carat(server, "upgrade").last

    lines = await_told(server, 3)
    assert_equal [["start", old], ["end", old]], lines.first(2)
    assert_equal 0, server.wait.exitstatus
    new = status(server).fetch("app_processes")
    assert_equal [lines.last[1]], (new.map { |row| row.fetch("pid") })
    carat(server, "stop")
    await_emptiness(server)
  end

  def test_a_refork_does_not_interrupt_it_and_the_next_one_is_of_the_new_mold
    server = serve(OK, config: LOOP, workers: 1, args: %w[--refork 20])
    old = await_told(server, 1).last[1]
    eventually(message: "a refork") do
      server.get
      server.log.include?("mold ended gen=1")
    end

    assert_equal [["start", old]], told(server)
    Process.kill(:TERM, old)
    assert_match(/gen=[2-9]/, Support::ProcessTree.title(await_told(server, 3).last[1]))
  end

  def test_a_rollback_brings_the_old_declaration_back
    server = serve(OK, config: LOOP, args: CONTROL_SOCKET)
    await_told(server, 1)
    server.directory.write("carat.rb", "")
    assert_equal 0, carat(server, "restart").last
    assert_equal %w[start end], (await_told(server, 2).map(&:first))
    carat(server, "restart", "--rollback")

    assert_equal %w[start end start], (await_told(server, 3).map(&:first))
  end
end
