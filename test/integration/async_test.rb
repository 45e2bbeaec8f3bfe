# frozen_string_literal: true

require "json"
require "test_helper"

# Tasks of the async gem inside of requests.
class AsyncTest < Support::IntegrationTest
  needs Support::AsyncGem.obstacle

  APP = <<~RUBY
    require "async"
    require "json"
    SEEN = ->(*seen) { [200, {}, [JSON.generate(seen)]] }
    GATED = #{Support::Gate::APP.sub("run(", "").strip.delete_suffix(")")}
    ACTIONS = {
      "/left" => -> { Async(transient: true) { left } && SEEN.call },
      "/raise" => -> { Sync { |task| task.async { raise "no luck" }.wait } },
      "/tasks" => -> { SEEN.call(Sync { |task| Array.new(3) { |n| task.async { sleep(0.001) && n } }.map(&:wait) }) },
      "/timeout" => -> { Sync { |task| task.with_timeout(0.001) { sleep } } rescue SEEN.call($!.class) }
    }
    def left
      sleep
    ensure
      File.open("left", "a") { |file| file.syswrite("ended") } # Ruby 4.0 repeats what an interrupted `flush` has written
    end
    run ->(env) { ACTIONS.fetch(env["PATH_INFO"], -> { Sync { |task| task.async { GATED.call(env) }.wait } }).call }
  RUBY

  def test_tasks_of_many_requests_wait_beside_one_another
    server = serve(APP, fibers: 16)
    clients = Array.new(16) { ask(server, "GET", "/gate") }
    await_arrivals(server, 16)
    server.gate.open

    assert_equal([200], clients.map { |client| client.read_response.status }.uniq)
  end

  def test_a_request_has_tasks_timeouts_and_errors_of_its_own
    server = serve(APP, fibers: 16)

    assert_equal [[[0, 1, 2]], ["Async::TimeoutError"]], (%w[/tasks /timeout].map { |path| seen(server, path) })
    assert_equal [500, [[0, 1, 2]]], [server.get("/raise").status, seen(server, "/tasks")]
    await_log(server, /RuntimeError.*no luck|no luck.*RuntimeError/)
  end

  def test_a_task_that_a_request_leaves_behind_ends_with_the_worker
    server = serve(APP, fibers: 16)
    seen(server, "/left")

    assert_equal 0, server.stop.exitstatus
    assert_equal "ended", server.directory.read("left")
  end

  private

  def seen(server, path)
    JSON.parse(server.get(path).body)
  end
end
