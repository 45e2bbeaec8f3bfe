# frozen_string_literal: true

require "test_helper"

class ProcessMoldTest < Support::IntegrationTest
  GATED = Support::Gate::APP

  def test_workers_go_on_without_the_mold_and_a_new_one_comes
    server = serve(GATED, workers: 2, threads: 1)
    await_workers(server, 2)
    client = ask(server, "POST", "/gate", body: "x")
    await_arrivals(server, 1)
    workers = server.workers
    old = server.mold
    Process.kill(:KILL, old)
    await_log(server, / error mold died gen=1 pid=#{old} cause="signal 9"$/)
    assert_equal 200, server.get("/quick").status
    await_log(server, / info mold ready gen=2 pid=\d+ boot_ms=\d+$/)
    server.gate.open

    assert_equal 200, client.read_response.status
    assert_equal workers, server.workers
    refute_equal old, server.mold
  end

  def test_new_mold_reads_the_application_and_the_config_again
    server = serve(GATED, config: "on_mold_boot { File.write(\"molds\", \"one \", mode: \"a\") }")
    server.directory.write("config.ru", 'run ->(_env) { [200, {}, ["new"]] }')
    server.directory.write("carat.rb", "on_mold_boot { File.write(\"molds\", \"two \", mode: \"a\") }")
    kill_mold(server)
    Process.kill(:KILL, server.workers.fetch(1))
    await_workers(server, 2)

    assert_equal "new", server.get("/").body
    assert_equal "one two ", server.directory.read("molds")
  end

  def test_new_mold_that_cannot_load_the_application_is_tried_again
    server = serve(GATED, threads: 1)
    server.directory.write("config.ru", "raise \"broken\"")
    Process.kill(:KILL, server.mold)
    await_log(server, / error mold failed to boot gen=3 pid=\d+ retry_in=\S+ cause="as before"$/)

    assert_equal 200, server.get("/").status
    assert_equal 1, server.log.scan("broken").size
    await_log(server, / mold failed to boot gen=2 .*cause="config\.ru:1: broken \(RuntimeError\)"$/)
    server.directory.write("config.ru", GATED)
    await_log(server, /mold ready gen=4/)
    assert_equal 0, server.stop.exitstatus
  end

  def test_mold_that_is_told_to_end_by_anybody_but_the_edge_stays
    server = serve(GATED)
    %i[TERM INT HUP].each { |signal| Process.kill(signal, server.mold) }
    Process.kill(:KILL, server.workers.fetch(1))
    await_workers(server, 2)

    assert_equal 1, server.log.scan("mold ready").size
  end

  private

  def kill_mold(server)
    Process.kill(:KILL, server.mold)
    await_log(server, /mold ready gen=2/)
  end
end
