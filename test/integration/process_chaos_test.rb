# frozen_string_literal: true

require "test_helper"

# Workers and molds are killed again and again while clients are served.
class ProcessChaosTest < Support::IntegrationTest
  KILLS = 15
  PAUSE_SECONDS = 0.2
  REQUESTS = 200
  # Every eighth request is slow, so that what was sent ahead to its worker has to wait or is taken back.
  APP = <<~'RUBY'
    run(lambda do |env|
      File.write("arrivals", "#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]} #{Process.pid}\n", mode: "a")
      sleep 0.01 if env["PATH_INFO"].end_with?("7")
      [200, {}, [env["PATH_INFO"]]]
    end)
  RUBY

  def test_every_get_is_answered
    server, outcomes, kills = chaos("GET")

    assert_equal [200], outcomes.values.uniq
    eventually(message: "a line for each kill") { server.log.scan("worker died").size == kills }
    assert_operator server.gate.arrivals.map(&:path).tally.values.max, :<=, 2
  end

  def test_no_post_runs_twice_and_those_that_were_answered_ran_once
    server, outcomes, = chaos("POST")
    runs = server.gate.arrivals.map(&:path).tally

    assert_empty outcomes.values.uniq - [200, 502]
    assert_equal 1, runs.values.max
    assert_empty outcomes.select { |path, status| status == 200 && !runs.key?(path) }
    lost = outcomes.values.count(502)
    eventually(message: "#{lost} lines") { server.log.scan("request lost with its worker").size == lost }
    assert_operator outcomes.values.count(200), :>, outcomes.size / 2
  end

  # Workers of the second generation on are killed as well, and so is their mold.
  def test_every_get_is_answered_while_molds_are_killed_too
    server, outcomes, kills = chaos("GET") { |running| kill_anybody(running) }

    assert_equal [200], outcomes.values.uniq
    # A mold that finds all workers there has forked none, and does not call itself by its generation yet.
    eventually(message: "a mold") { server.log.scan("mold ready").size == kills[:mold] + 1 }
    eventually(message: "three workers") { server.workers.size == 3 }
  end

  private

  # Returns the server, each request's status by its path, and what the block or kill_workers returned.
  def chaos(verb)
    server = serve(APP, workers: 3, threads: 2)
    await_workers(server, 3)
    done = false
    outcomes = Array.new(6) { {} }
    clients = outcomes.map.with_index do |own, number|
      Thread.new { ask_in_pairs(server, verb, "/#{number}-", own) { done } }
    end
    kills = block_given? ? yield(server) : kill_workers(server)
    eventually(message: "#{REQUESTS} requests") { outcomes.sum(&:size) > REQUESTS }
    done = true
    clients.each(&:join)
    [server, outcomes.reduce(:merge), kills]
  ensure
    done = true
  end

  # Sends pairs of requests on two connections, without a pause, until the block is true, and notes each status.
  def ask_in_pairs(server, verb, prefix, outcomes)
    clients = Array.new(2) { server.connect }
    until yield
      paths = clients.map { |client| "#{prefix}#{outcomes.size + clients.index(client)}" }
      clients.zip(paths) { |client, path| client.request(verb, path, body: ("x" if verb == "POST")) }
      clients.zip(paths) { |client, path| outcomes[path] = client.read_response.status }
    end
  end

  # Kills a worker and waits for its replacement, again and again; returns how often.
  def kill_workers(server)
    KILLS.times do |kills|
      pause
      Process.kill(:KILL, server.workers.values.sample)
      await_workers(server, 3 + kills + 1)
    end
    KILLS
  end

  # Kills a worker at each turn, and at each fifth turn the mold if it is ready: a mold that is killed whenever it boots
  # would never fork. Returns how many of each.
  def kill_anybody(server)
    (1..).each_with_object(Hash.new(0)) do |turn, kills|
      break kills if kills[:mold] > 1 && kills.values.sum >= KILLS

      pause
      mold = (server.mold if (turn % 5).zero?)
      victim = mold || server.workers.values.sample
      next unless victim

      Process.kill(:KILL, victim)
      kills[mold ? :mold : :worker] += 1
    end
  end

  def pause
    started = Support::Eventually.now
    eventually { Support::Eventually.now > started + PAUSE_SECONDS }
  end
end
