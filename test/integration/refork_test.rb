# frozen_string_literal: true

require "json"
require "test_helper"

# A worker becomes the mold of the next generation while clients are served.
class ReforkTest < Support::IntegrationTest
  # Each worker fills a cache of 30 MB with its first request, as one that serves does in time.
  CACHING = <<~'RUBY'
    CACHE = []
    fill = -> { 300_000.times { |n| CACHE << "entry number #{n} of a cache that every worker fills for itself" } }
    run(lambda do |_env|
      fill.call if CACHE.empty?
      [200, {}, [Process.pid.to_s]]
    end)
  RUBY
  STATS = 'require "json"; run ->(_env) { [200, {}, [JSON.generate(Carat.stats)]] }'
  RANDOM = 'run ->(_env) { [200, {}, ["#{Process.pid} #{rand(1 << 64)}"]] }'
  NEVER = 1_000_000

  def test_no_request_fails_and_all_workers_are_of_the_new_generation
    { threads: 2, fibers: 16 }.each do |kind, size|
      server = serve(CACHING, workers: 2, kind => size, args: %W[--refork 50,#{NEVER}])
      statuses = under_load(server) { while_renewed(server, 2) { server.get } }

      assert_equal [200], statuses.uniq
      assert_equal ["carat: mold gen=2", "carat: worker=1 gen=2", "carat: worker=2 gen=2"], titles(server)
      assert_equal server.children.sort, Support::ProcessTree.children(server.pid).sort
      refute_match(/ error |died/, server.log)
    end
  end

  def test_what_a_worker_has_filled_is_shared_by_the_next
    server = serve(CACHING, workers: 1, threads: 1, args: %W[--refork 50,#{NEVER}])
    server.get
    before = private_kilobytes(server.workers.fetch(1))
    while_renewed(server, 2) { server.get }
    server.get
    after = private_kilobytes(server.workers.values.first)

    assert_operator before, :>, 25_000
    assert_operator after, :<, before / 3
  end

  def test_generation_follows_generation
    server = serve(STATS, workers: 1, threads: 1, args: %w[--refork 10])
    while_renewed(server, 4) { server.get }

    stats = JSON.parse(server.get.body)
    assert_operator stats.fetch("generation"), :>=, 4
    assert_equal server.workers.values.first, JSON.parse(server.get.body).fetch("pid")
    await_log(server, /mold ended gen=1 .*exit status 0.*mold ended gen=2 .*exit status 0/m)
  end

  def test_workers_of_all_generations_die_with_the_edge
    server = serve(STATS, workers: 2, threads: 1, args: %W[--refork 10,10,#{NEVER}])
    while_renewed(server, 3) { server.get }
    server.kill(:KILL)
    server.wait
    eventually(message: "the end of all processes") { server.processes.empty? }
  end

  def test_a_mold_that_was_a_worker_has_nothing_open_of_one
    { threads: 2, fibers: 16 }.each do |kind, size|
      server = serve(STATS, workers: 1, kind => size, args: %W[--refork 10,#{NEVER}])
      first = open_files(server.mold)
      while_renewed(server, 2) { server.get }

      assert_equal first, open_files(server.mold), kind
      refute_match(/memfd:carat-lane/, File.read("/proc/#{server.mold}/maps"))
    end
  end

  def test_workers_draw_different_numbers_in_every_generation
    server = serve(RANDOM, workers: 1, threads: 1, args: %w[--refork 5])
    answers = while_renewed(server, 4) { server.get.body }

    firsts = answers.map(&:split).uniq(&:first).map(&:last)
    assert_operator firsts.size, :>=, 4
    assert_equal firsts.uniq, firsts
    assert_equal answers.uniq, answers
  end

  def test_it_can_be_off
    server = serve(STATS, workers: 2, threads: 1, args: %w[--refork off])
    100.times { server.get }
    see_edge_go_round(server)

    assert_equal 1, server.log.scan("mold ready").size
    refute_match(/refork/, server.log)
  end

  private

  # Asks until all workers are of this generation or a later one, and at least its mold is there; returns what the block
  # has returned.
  def while_renewed(server, generation)
    answers = []
    eventually(message: "generation #{generation}") do
      answers << yield
      generations = titles(server).map { |title| title[/gen=(\d+)/, 1].to_i }
      generations.size > 1 && generations.min >= generation && server.workers.any?
    end
    answers
  end

  # The statuses of what clients ask without a pause while the block runs.
  def under_load(server)
    done = false
    clients = Array.new(4) { Thread.new { ask_until(server) { done } } }
    yield
    done = true
    clients.flat_map(&:value)
  ensure
    done = true
  end

  def ask_until(server)
    client = server.connect
    statuses = []
    until yield
      client.request("GET", "/")
      statuses << client.read_response.status
    end
    statuses
  end

  def titles(server)
    server.children.map { |pid| Support::ProcessTree.title(pid) }.sort
  end

  def private_kilobytes(pid)
    File.read("/proc/#{pid}/smaps_rollup")[/^Private_Dirty:\s+(\d+)/, 1].to_i
  end

  # The kinds of what it has open.
  def open_files(pid)
    links = Dir.glob("/proc/#{pid}/fd/*").filter_map { |link| Support::ProcessTree.target(link) }
    links.map { |target| target[/\A[^\[]+/] }.tally
  end
end
