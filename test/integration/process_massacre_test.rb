# frozen_string_literal: true

require "test_helper"

# Workers and molds that are killed all the time while clients are served.
class ProcessMassacreTest < Support::IntegrationTest
  SECONDS = 3
  PAUSE_SECONDS = 0.2
  # Every eighth request is slow, so that what was sent ahead to its worker has to wait or is taken back.
  APP = <<~'RUBY'
    run(lambda do |env|
      File.write("arrivals", "#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]} #{Process.pid}\n", mode: "a")
      sleep 0.01 if env["PATH_INFO"].end_with?("7")
      [200, {}, [env["PATH_INFO"]]]
    end)
  RUBY

  def test_every_get_is_answered
    server, outcomes, kills = massacre("GET")

    assert_equal [200], outcomes.values.uniq
    assert_equal kills, server.log.scan("worker died").size
    assert_operator server.gate.arrivals.map(&:path).tally.values.max, :<=, 2
  end

  def test_no_post_runs_twice_and_those_that_were_answered_ran_once
    server, outcomes, = massacre("POST")
    runs = server.gate.arrivals.map(&:path).tally

    assert_empty outcomes.values.uniq - [200, 502]
    assert_equal 1, runs.values.max
    assert_empty outcomes.select { |path, status| status == 200 && !runs.key?(path) }
    assert_equal outcomes.values.count(502), server.log.scan("request lost with its worker").size
    assert_operator outcomes.values.count(200), :>, outcomes.size / 2
  end

  # Workers of the second generation on are killed as well, and so is their mold.
  def test_every_get_is_answered_while_molds_are_killed_too
    server, outcomes, kills = massacre("GET") { |stop, running| kill_anybody_until(stop, running) }

    assert_equal [200], outcomes.values.uniq
    assert_operator kills[:mold], :>, 0
    assert_operator kills[:worker], :>, 5
    # A mold that finds all workers there has forked none, and does not call itself by its generation yet.
    eventually(message: "a mold") { server.log.scan("mold ready").size == kills[:mold] + 1 }
    eventually(message: "three workers") { server.workers.size == 3 }
  end

  private

  # Returns the server, each request's status by its path, and what the block, or else kill_until, gave.
  def massacre(verb)
    server = serve(APP, workers: 3, threads: 2)
    await_workers(server, 3)
    stop = Support::Eventually.now + SECONDS
    clients = Array.new(6) { |number| Thread.new { outcomes_until(stop, server, verb, "/#{number}-") } }
    kills = block_given? ? yield(stop, server) : kill_until(stop, server)
    outcomes = clients.map(&:value).reduce(:merge)
    assert_operator outcomes.size, :>, 200
    [server, outcomes, kills]
  end

  # Asks in pairs on two connections, one request after the other without a pause.
  def outcomes_until(stop, server, verb, prefix)
    clients = Array.new(2) { server.connect }
    outcomes = {}
    while Support::Eventually.now < stop
      paths = clients.map { |client| "#{prefix}#{outcomes.size + clients.index(client)}" }
      clients.zip(paths) { |client, path| client.request(verb, path, body: ("x" if verb == "POST")) }
      clients.zip(paths) { |client, path| outcomes[path] = client.read_response.status }
    end
    outcomes
  end

  # Kills a worker, waits for its replacement and for the next time, and again; returns how often.
  def kill_until(stop, server)
    times = (Support::Eventually.now..stop).step(PAUSE_SECONDS)
    times.each.with_index(1) do |time, kills|
      eventually { Support::Eventually.now > time }
      Process.kill(:KILL, server.workers.values.sample)
      await_workers(server, 3 + kills)
    end
    times.count
  end

  # Kills a worker at each of the times, and each fifth time the mold, if it is ready: one that is killed whenever it
  # boots would never come to fork. Returns how many of each.
  def kill_anybody_until(stop, server)
    times = (Support::Eventually.now..stop).step(PAUSE_SECONDS)
    times.with_index(1).each_with_object(Hash.new(0)) do |(time, turn), kills|
      eventually { Support::Eventually.now > time }
      mold = (server.mold if (turn % 5).zero?)
      victim = mold || server.workers.values.sample
      next unless victim

      Process.kill(:KILL, victim)
      kills[mold ? :mold : :worker] += 1
    end
  end
end
