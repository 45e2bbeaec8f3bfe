# frozen_string_literal: true

require "test_helper"

# How the edge feeds workers that run many requests at once.
class FibersDispatchTest < Support::IntegrationTest
  # /compute/NAME keeps the thread until the file NAME exists, and gives way to no fiber. /gate is answered when the
  # gate is open, and /stream ends then; /stuck, on line 5, never is.
  APP = <<~'RUBY'
    PIECES = ->(file) { Enumerator.new { |out| (out << "a").then { sleep 0.002 until File.exist?(file) }; out << "b" } }
    ANSWER = ->(body) { [200, { "content-type" => "text/plain" }, body] }
    ACTIONS = {
      "compute" => ->(name) { Fiber.new(blocking: true) { nil until File.exist?(name) }.resume },
      "stuck" => ->(_) { sleep },
      "gate" => ->(_) { sleep 0.005 until File.exist?("gate") }
    }
    run(lambda do |env|
      action, name = env["PATH_INFO"].split("/").drop(1)
      File.write("arrivals", "#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]} #{Process.pid}\n", mode: "a")
      next ANSWER.call(PIECES.call("gate")) if action == "stream"

      ACTIONS.fetch(action, ->(_) {}).call(name)
      ANSWER.call([Process.pid.to_s])
    end)
  RUBY

  def test_only_the_request_that_takes_too_long_gets_504
    server = start(fibers: 20, args: %w[--request-timeout 6])
    stuck, *streams = [ask(server, "POST", "/stuck", body: "x"), *Array.new(2) { ask(server, "GET", "/stream") }]
    old = await_arrivals(server, 3).first.pid
    later(3)
    others = Array.new(10) { ask(server, "POST", "/gate", body: "x") }
    await_arrivals(server, 13)

    assert_equal 504, stuck.read_response.status
    line = /stack of the stuck request worker=1 gen=1 pid=#{old} lane=0 waits_for=.* stack=\n/
    stack = await_log(server, line).post_match
    assert_match(/\A(\s*\S+:in .*\n)*?\s*\S*config\.ru:5:in /, stack)
    refute_equal old.to_s, server.get("/").body
    later(0.3)
    refute_includes server.log, "ending worker"
    server.gate.open
    assert_equal([[200, old.to_s]] * 10, others.map { |client| client.read_response.then { |r| [r.status, r.body] } })
    assert_equal(%w[ab ab], streams.map { |client| client.read_response.body })
    await_log(server, /ending worker worker=1 gen=1 pid=#{old} signal=15$/)
    assert_equal 1, server.log.scan("request timed out").size
  end

  # While a fiber waits for the client of its stream, it reads what arrives for others.
  def test_a_burst_of_large_bodies_beside_streams_ends_no_worker
    server = serve(<<~'RUBY', workers: 1, fibers: 1000)
      piece = "x" * 65_536
      run(lambda do |env|
        next [200, {}, Enumerator.new { |out| 100.times { out << piece } }] if env["PATH_INFO"] == "/stream"

        [200, {}, [env["rack.input"].read.bytesize.to_s]]
      end)
    RUBY
    streams = Array.new(4) { ask(server, "GET", "/stream") }
    streams.each { |client| client.read_exactly(100) }
    posts = Array.new(600) { ask(server, "POST", "/", body: "x" * 60_000) }
    streams.each { |client| client.read_exactly(6_000_000) }

    assert_equal ["60000"], posts.map { |client| client.read_response.body }.uniq
    refute_includes server.log, "died"
  end

  def test_what_a_killed_worker_had_begun_is_asked_again_or_refused
    server = start(fibers: 100)
    gets = Array.new(50) { ask(server, "GET", "/gate") }
    posts = Array.new(10) { ask(server, "POST", "/gate", body: "x") }
    old = await_arrivals(server, 60).first.pid
    Process.kill(:KILL, old)
    assert_equal [502] * 10, (posts.map { |client| client.read_response.status })
    arrivals = await_arrivals(server, 110)
    server.gate.open

    assert_equal([arrivals.last.pid.to_s] * 50, gets.map { |client| client.read_response.body })
    refute_equal old, arrivals.last.pid
    assert_equal({ "GET" => 100, "POST" => 10 }, server.gate.arrivals.map(&:verb).tally)
  end

  def test_what_a_computing_worker_has_not_begun_goes_to_one_that_waits
    server = start(workers: 2, fibers: 50)
    await_workers(server, 2)
    computing = ask(server, "POST", "/compute/done", body: "x")
    busy = await_arrivals(server, 1).first.pid
    sleeping = ask(server, "GET", "/gate")
    await_arrivals(server, 2)
    others = Array.new(40) { |number| ask(server, "POST", "/#{number}", body: "x") }

    assert_equal server.workers.values - [busy], others.map { |client| client.read_response.body.to_i }.uniq
    server.directory.write("done", "")
    assert_equal busy.to_s, computing.read_response.body
    refute_includes server.log, "experimental"
    server.gate.open
    assert_equal 200, sleeping.read_response.status
    assert_equal [1], server.gate.arrivals.map(&:path).tally.values.uniq
  end

  def test_requests_that_a_worker_has_places_for_are_not_refused_because_it_reads_nothing_for_a_while
    server = start(fibers: 200, args: %w[--queue-limit 1])
    computing = ask(server, "GET", "/compute/done")
    await_arrivals(server, 1)
    others = Array.new(100) { |number| ask(server, "GET", "/#{number}", fields: { "X-Long" => "x" * 30_000 }) }
    see_edge_go_round(server)
    server.directory.write("done", "")

    assert_equal([200] * 101, [computing, *others].map { |client| client.read_response.status })
  end

  def test_a_stop_waits_for_all_requests_of_a_worker_and_for_those_that_wait
    server = start(fibers: 100)
    clients = Array.new(120) { ask(server, "POST", "/gate", body: "x") }
    await_arrivals(server, 100)
    see_edge_go_round(server)
    server.kill(:TERM)
    await_log(server, /stopping/)
    server.gate.open

    assert_equal([200] * 120, clients.map { |client| client.read_response.status })
    assert_equal 0, server.wait.exitstatus
    assert_equal [120], server.gate.arrivals.map(&:path).tally.values
  end

  def test_a_worker_that_is_told_to_end_finishes_all_its_requests
    server = start(fibers: 100)
    clients = Array.new(100) { ask(server, "POST", "/gate", body: "x") }
    old = await_arrivals(server, 100).first.pid
    Process.kill(:TERM, old)
    await_workers(server, 2)
    refute_equal old.to_s, server.get("/").body
    server.gate.open

    assert_equal([old.to_s], clients.map { |client| client.read_response.body }.uniq)
    await_log(server, / info worker ended worker=1 gen=1 pid=#{old} cause="exit status 0"$/)
  end

  private

  def start(**options)
    serve(APP, **options)
  end

  # Lets time pass, so that what comes has more of it left than what was there.
  def later(seconds)
    start = Support::Eventually.now
    eventually { Support::Eventually.now > start + seconds }
  end
end
