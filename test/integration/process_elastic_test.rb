# frozen_string_literal: true

require "test_helper"

class ProcessElasticTest < Support::IntegrationTest
  def test_workers_grow_with_the_queue_and_shrink_when_it_is_quiet
    server = serve(Support::Gate::APP, workers: "1..4", threads: 1, args: %w[--worker-idle-timeout 1])
    assert_equal [1], server.workers.keys
    clients = Array.new(12) { |number| ask(server, "GET", "/gate/#{number}") }
    await_arrivals(server, 4)

    assert_equal 4, server.gate.arrivals.map(&:pid).uniq.size
    server.gate.open
    assert_equal [200] * 12, (clients.map { |client| client.read_response.status })
    eventually(message: "one worker") { server.workers.size == 1 }
    refute_match(/worker died|ERROR/i, server.log)
  end

  def test_a_worker_that_has_served_enough_is_replaced_before_it_ends
    server = serve("run ->(_env) { [200, {}, [Process.pid.to_s]] }", workers: 1, threads: 1,
                                                                     args: %w[--worker-requests 20])
    pids = Array.new(100) { server.get("/").then { |response| [response.status, response.body] } }
    await_log(server, /worker will be replaced worker=1 .* reason="\d+ requests \(worker_requests\)"/)

    assert_equal [200], pids.map(&:first).uniq
    eventually(message: "a second worker") { server.get("/").body != pids.first.last }
    eventually(message: "one worker") { server.workers.size == 1 }
  end

  def test_a_worker_that_is_old_is_replaced_one_at_a_time
    server = serve(Support::Gate::APP, workers: 2, threads: 1, args: %w[--worker-age 1])
    await_workers(server, 6)

    assert_operator server.workers.size, :<=, 3
    old = await_log(server, /will be replaced worker=\d gen=1 pid=(\d+)/)
    until_its_end = await_log(server, /pid=#{old[1]} .*\n(?<between>(.*\n)*?).* worker ended .*pid=#{old[1]} /)
    assert_includes until_its_end[:between], "worker ready"
  end
end
