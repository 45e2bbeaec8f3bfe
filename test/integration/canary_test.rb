# frozen_string_literal: true

require "json"
require "test_helper"
require "support/controlled_server"

# A restart waits between old code and new until somebody decides.
class CanaryTest < Support::IntegrationTest
  include Support::ControlledServer

  CODE = <<~'RUBY'
    VERSION = File.read("version").strip
    run(lambda do |env|
      exit!(1) if VERSION == "2" && env["PATH_INFO"] == "/die"
      sleep 0.05 if VERSION == "2" && env["PATH_INFO"] == "/slow"
      [VERSION == "2" && env["PATH_INFO"] == "/bug" ? 500 : 200, {}, [VERSION]]
    end)
  RUBY

  def test_the_share_is_exact_and_go_replaces_all
    { threads: 3, fibers: 16 }.each do |kind, size|
      server = start(workers: 2, kind => size)
      out, err, status = restart(server, "2", "--canary", "10")

      assert_equal ["", 0], [err, status]
      assert_equal "carat: canary: 10 % of requests go to generation 2; carat restart --go or --rollback decides\n", out
      assert_equal({ "1" => 90, "2" => 10 }, versions(server, 100))
      out, = carat(server, "restart", "--go")

      assert_match(/^old +1 +2 +0 +90 +0 .*\nnew +2 +1 +0 +10 +0 .*\ncarat: restarted: generation 2 /, out)
      assert_equal({ "2" => 20 }, versions(server, 20))
    end
  end

  def test_rollback_leaves_the_old_code_with_its_workers
    server = start(workers: 2)
    before = server.workers.values
    restart(server, "2", "--canary", "50")

    assert_equal({ "1" => 10, "2" => 10 }, versions(server, 20))
    out, = carat(server, "restart", "--rollback")

    assert_match(/^carat: rolled back: generation 1 serves with 2 workers$/, out)
    assert_equal({ "1" => 20 }, versions(server, 20))
    eventually(message: "the old workers alone") { server.workers.values == before }
  end

  def test_configuration_may_ask_for_a_canary_that_follows_a_cookie
    server = start(workers: 1, config: %(canary 50\ncanary_by "cookie"\n))
    out, = restart(server, "2")

    assert_match(/canary: 50 % of clients go to generation 2/, out)
    clients = Array.new(10) { cookie(server.get("/")) }

    assert_equal 5, clients.grep(/=2-new\z/).size
    clients.each { |cookie| assert_stays(server, cookie) }
  end

  def test_status_shows_errors_and_latency_of_both
    server = start(workers: 1)
    restart(server, "2", "--canary", "50")
    4.times { server.get("/bug") }
    4.times { server.get("/slow") }
    canary = status(server).fetch("canary")
    old, new = canary.values_at("old", "new")

    assert_equal [[1, 4, 0], [2, 4, 2]], [old, new].map { |code| code.values_at("generation", "requests", "errors") }
    assert_operator new["p99"], :>=, 0.05
    out, = carat(server, "status")

    assert_match(/^canary: 50 % of requests go to generation 2\n.*\nold .*\nnew .*\n/, out)
    assert_match(/^restart: canary$/, out)
  end

  def test_dead_canary_is_counted_and_replaced_and_loses_no_request
    server = start(workers: 1)
    restart(server, "2", "--canary", "99")
    server.get("/") # the first of a hundred is the old code's

    assert_equal "1", server.get("/die").body, "the old code serves the request again"
    canary = -> { status(server).dig("canary", "new") }
    eventually(message: "the death") { canary.call.values_at("dead_workers", "workers") == [1, 1] }

    assert_equal %w[1 2], versions(server, 100).keys.sort
  end

  def test_another_restart_is_refused_while_a_canary_waits
    server = start(workers: 1)
    restart(server, "2", "--canary", "10")
    reason = "carat: a canary waits: decide with carat restart --go or --rollback first\n"

    assert_equal ["", reason, 1], carat(server, "restart")
    server.kill(:USR1)
    await_log(server, /warn no restart: a canary waits/)

    assert_equal 0, server.stop.exitstatus
    await_emptiness(server)
  end

  def test_wrong_words_and_decisions_without_a_canary_are_refused
    server = start(workers: 1)

    assert_equal ["", "carat: no canary waits\n", 1], carat(server, "restart", "--go")
    assert_equal 78, carat(server, "restart", "--canary", "100").last
    assert_equal 78, carat(server, "restart", "--go", "--rollback").last
    assert_equal 78, carat(server, "restart", "--go", "--canary", "5").last
  end

  def test_one_that_is_asked_for_while_the_server_starts_follows
    code = %(sleep 0.01 until File.exist?("go")\n#{CODE})
    server = server(app: code, files: { "version" => "1" }, args: ["--control-socket", "carat.sock"])
    starting = Thread.new { server.start }
    eventually(message: "the control socket") { carat(server, "status").last.zero? }
    restarting = Thread.new { carat(server, "restart", "--canary", "50") }
    await_log(server, / info a restart follows the start$/)
    server.directory.write("go", "")
    starting.join

    assert_match(/\Acarat: canary: 50 % of requests go to generation 2;/, restarting.value.first)
  end

  private

  def restart(server, version, *words)
    server.directory.write("version", version)
    carat(server, "restart", *words)
  end

  def cookie(response)
    response["set-cookie"][/\Acarat_canary=[^;]+(?=; Path=\/; HttpOnly; SameSite=Lax\z)/]
  end

  # The client gets the code that its cookie names, and no new cookie.
  def assert_stays(server, cookie)
    3.times do
      response = server.get("/", fields: { "Cookie" => "a=b; #{cookie}" })

      assert_equal [cookie.end_with?("new") ? "2" : "1", nil], [response.body, response["set-cookie"]]
    end
  end
end
