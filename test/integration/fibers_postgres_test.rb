# frozen_string_literal: true

require "test_helper"

# Requests in fibers that share a small pool of database connections. Queries wait for a lock that the test holds.
class FibersPostgresTest < Support::IntegrationTest
  include Support::HeldQueries

  POOL = 5
  SLEEP = "select pg_sleep(1000)"
  APP = <<~RUBY
    require "sequel"
    Sequel.extension :fiber_concurrency
    DATABASE = Sequel.connect(ENV.fetch("DATABASE_URL"), max_connections: #{POOL}, pool_timeout: 10, test: false)
    QUERIES = { "/one" => "select 1", "/wait" => "#{WAIT}", "/sleep" => "#{SLEEP}" }
    run(lambda do |env|
      rows = QUERIES[env["PATH_INFO"]]&.then { |query| DATABASE.fetch(query).all }
      [200, { "content-type" => "text/plain" }, [rows ? rows.size.to_s : Process.pid.to_s]]
    end)
  RUBY

  def setup
    super
    @server = serve(APP, workers: 1, fibers: 64, env: { "DATABASE_URL" => postgres.url })
    @worker = @server.get.body
  end

  def test_a_database_that_is_started_again_costs_errors_but_no_request_and_no_worker
    broken = ask_for("/sleep", POOL)
    await_queries(SLEEP, POOL)
    waiting = ask_for("/one", POOL)
    see_edge_go_round(@server)
    postgres.restart
    assert_equal [500] * POOL, statuses(broken)
    assert_empty statuses(waiting) - [200, 500]
    assert_equal [200, @worker], [@server.get("/one").status, @server.get.body]
    assert_whole_pool
  end

  def test_a_stop_waits_for_the_queries_that_are_under_way
    lock
    clients = ask_for("/wait", 10)
    await_queries(WAIT, POOL)
    @server.kill(:TERM)
    await_log(@server, /stopping/)
    unlock
    assert_equal [200] * 10, statuses(clients)
    assert_equal 0, @server.wait.exitstatus
    eventually(message: "the end of the connections") { postgres.connections.zero? }
  end

  private

  # No connection has been lost, and none is kept by a request that is over.
  def assert_whole_pool
    assert_turns(POOL)
    await_pool
  end

  # Waits until there are as many connections as the pool has: those of the test itself may still be ending.
  def await_pool
    eventually(message: "#{POOL} connections") { postgres.connections == POOL }
  end
end
