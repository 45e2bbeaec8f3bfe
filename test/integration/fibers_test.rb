# frozen_string_literal: true

require "json"
require "test_helper"

# What a worker with fibers does that one with threads does not.
class FibersTest < Support::IntegrationTest
  # Line 4 is where a request for /compute stands.
  APP = <<~RUBY
    require "json"
    SEEN = ->(*seen) { [200, {}, [JSON.generate(seen)]] }
    STORAGE = -> { Fiber.respond_to?(:[]) ? Fiber : {} } # Ruby has it from 3.2 on
    COMPUTE = -> { 1_000_000.times { |n| n.to_s.hash } }
    GATED = #{Support::Gate::APP.sub("run(", "").strip.delete_suffix(")")}
    ACTIONS = {
      "/compute" => -> { COMPUTE.call.then { SEEN.call } },
      "/keep" => -> { SEEN.call(Thread.current[:a], STORAGE.call[:a]).tap { Thread.current[:a] = STORAGE.call[:a] = 1 } },
      "/left" => -> { Fiber.schedule { File.write("left", "yes") if sleep }.then { SEEN.call } },
      "/scheduler" => -> { SEEN.call(Fiber.scheduler.is_a?(Carat::Scheduler), Thread.list.size) },
      "/stats" => -> { SEEN.call(Carat.stats) }
    }
    run ->(env) { ACTIONS.fetch(env["PATH_INFO"], -> { GATED.call(env) }).call }
  RUBY

  def test_one_thread_runs_as_many_requests_at_once_as_there_are_fibers_and_no_more
    server = start(fibers: 20)
    clients = Array.new(25) { ask(server, "GET", "/gate") }
    await_arrivals(server, 20)
    see_edge_go_round(server)

    assert_equal [20, 1], [server.gate.arrivals.size, server.gate.arrivals.map(&:pid).uniq.size]
    server.gate.open
    assert_equal([200], clients.map { |client| client.read_response.status }.uniq)
  end

  def test_a_worker_has_two_threads_however_many_fibers_there_are
    server = start(fibers: 100)

    assert_equal [true, 2], seen(server, "/scheduler")
  end

  def test_what_one_request_keeps_in_its_fiber_no_other_finds
    server = start(fibers: 4)

    assert_equal [[nil, nil]] * 5, Array.new(5) { seen(server, "/keep") }
  end

  def test_the_figures_of_a_worker_are_there_for_the_application
    server = start(fibers: 7)
    clients = Array.new(3) { ask(server, "GET", "/gate") }
    await_arrivals(server, 3)
    lane = seen(server, "/stats").first.fetch("lanes").first

    assert_equal [7, 4], lane.values_at("capacity", "running")
    assert_operator lane["longest_run"], :>, 0
    server.gate.open
    clients.each(&:read_response)
  end

  def test_a_request_that_computes_for_too_long_is_named_in_the_log
    server = start(fibers: 4, args: %w[--stall-warning 10ms])
    server.get("/compute")

    await_log(server, %r{^carat: worker=1: GET /compute blocked the thread for \d+\.\d+ s with \d+ requests? running})
    refute_match(%r{GET /(stats|keep)}, server.log)
  end

  def test_a_stop_waits_for_the_requests_and_for_nothing_that_they_have_left_running
    server = start(fibers: 4)
    seen(server, "/left")
    client = ask(server, "GET", "/gate")
    await_arrivals(server, 1)
    server.kill(:TERM)
    server.gate.open

    assert_equal 200, client.read_response.status
    assert_equal 0, server.wait.exitstatus
  end

  private

  def start(**options)
    serve(APP, **options)
  end

  def seen(server, path)
    JSON.parse(server.get(path).body)
  end
end
