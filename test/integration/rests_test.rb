# frozen_string_literal: true

require "test_helper"

# The reports of full garbage collections, and of the rests of workers for them.
class RestsTest < Support::IntegrationTest
  include Support::ControlledServer

  # A large old heap, and requests that replace some of many strings: full collections are due.
  CODE = <<~'RUBY'
    HEAP = Array.new(100_000) { |n| { id: n, name: "item #{n}" } }
    CACHE = {}
    run lambda { |_env|
      300.times { |n| CACHE[rand(20_000)] = "value #{n} #{rand}" * 3 }
      rows = Array.new(1500) { |n| { n: n, s: "row #{n}" } }
      [200, {}, [rows.empty? ? "" : "served"]]
    }
  RUBY
  CLIENTS = 2

  def setup
    super
    skip "this Ruby decides itself" if RUBY_VERSION < "3.4"
  end

  def test_the_status_counts_rests_and_collections_by_what_they_stopped
    server = start(workers: 2, threads: 1)
    with_load(server) { await_collections(server) }
    report = status(server).fetch("collections")
    assert_operator report.fetch("rests"), :>=, 2
    assert_operator report.dig("between_requests", "count"), :>, report.dig("within_requests", "count")
    assert_empty report.dig("between_requests", "reasons").keys - %w[nofree oldgen shady oldmalloc room]
    assert_equal report.dig("between_requests", "count"), report.dig("between_requests", "reasons").values.sum
    assert_match(/^full collections: [2-9]\d* between requests/, carat(server, "status").first)
  ensure
    server&.stop
  end

  def test_where_ruby_decides_nobody_rests
    server = start(workers: 2, threads: 1, config: %(gc "ruby"\n))
    200.times { server.get }
    report = status(server).fetch("collections")
    assert_equal [0, 0], [report.fetch("rests"), report.dig("between_requests", "count")]
    assert_equal %w[unmanaged], report.fetch("haste").keys
  ensure
    server&.stop
  end

  private

  def between(server)
    status(server).dig("collections", "between_requests", "count")
  end

  def await_collections(server)
    eventually(within: 60, message: "two full collections between requests") { between(server) >= 2 }
  end

  # Clients ask, one request after the other, until the block has returned.
  def with_load(server)
    is_over = false
    clients = Array.new(CLIENTS) { Thread.new { assert_equal("served", server.get.body) until is_over } }
    yield
  ensure
    is_over = true
    clients.each(&:join)
  end
end
