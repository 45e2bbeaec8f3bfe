# frozen_string_literal: true

require "test_helper"
require "json"
require "net/http"

# Requests that the application holds until the test opens a gate.
class PoolsTest < Support::IntegrationTest
  include Support::ControlledServer

  SLOW = 'pool "slow", paths: ["/gate/*"], threads: 2, queue_limit: 3'

  def test_five_slow_requests_do_not_keep_others_waiting
    server = start( threads: 3, config: SLOW)
    slow = Array.new(2) { |number| ask(server, "GET", "/gate/#{number}") }
    await_arrivals(server, 2)
    slow += Array.new(3) { |number| ask(server, "GET", "/gate/more/#{number}") }
    eventually { pool(server, "slow").values_at("running", "waiting") == [2, 3] }

    3.times { assert_equal 200, server.get("/front").status }
    refused = server.get("/%67ate//6")
    assert_equal [503, "1"], [refused.status, refused["retry-after"]]
    await_log(server, / warn queue full pool=slow refused=1 queue_limit=3$/)
    server.gate.open
    assert_equal [200] * 5, (slow.map { |client| client.read_response.status })
    assert_equal [5, 1, 0, 0], pool(server, "slow").values_at("served", "refused", "running", "waiting")
    assert_equal 3, pool(server, "main").fetch("served")
  end

  def test_requests_of_high_priority_are_next
    server = start( threads: 1, config: 'pool "up", paths: "/up", priority: :high')
    clients = [ask(server, "GET", "/gate")]
    await_arrivals(server, 1)
    clients += %w[/first /second].map { |path| ask(server, "GET", path).tap { see_edge_go_round(server) } }
    clients << ask(server, "GET", "/up")
    eventually { pool(server, "up").fetch("waiting") == 1 }
    server.gate.open

    assert_equal [200] * 4, (clients.map { |client| client.read_response.status })
    assert_equal %w[/gate /up /first /second], server.gate.arrivals.map(&:path)
  end

  def test_status_and_metrics_name_the_pools
    server = start( threads: 1, config: SLOW, args: %w[--metrics tcp://127.0.0.1:0])
    server.get("/front")
    port = await_log(server, %r{ info metrics address=tcp://127.0.0.1:(\d+)})[1]
    server.gate.open
    server.get("/%67ate/1")
    times = /^carat_request_(\w+)_time_seconds_count\{status="2xx",pool="(\w+)"\} 1$/
    metrics = eventually do
      text = Net::HTTP.get("127.0.0.1", "/metrics", Integer(port))
      text if text.scan(times) == [%w[queue main], %w[queue slow], %w[app main], %w[app slow]]
    end

    assert_includes metrics, "carat_pool_running_requests{pool=\"slow\"} 0\n"
    assert_match(/^ *slow +0 +2 +0 +3 +1 +0$/, carat(server, "status").first)
  end

  private

  def start(args: [], **options)
    serve(Support::Gate::APP, args: [*args, "--control-socket", "carat.sock"], **options)
  end

  def pool(server, name)
    status(server).fetch("pools").find { |pool| pool.fetch("name") == name }
  end
end
