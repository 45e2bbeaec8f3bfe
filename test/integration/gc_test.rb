# frozen_string_literal: true

require "json"
require "test_helper"

# The growth of Ruby's heap in the mold and its workers, and what it costs.
class GcTest < Support::IntegrationTest
  # What the mold found, what a program that a worker starts finds, and slots that are free, or may be had without a
  # collection, beside those that are taken.
  APP = <<~'RUBY'
    require "json"
    IN_MOLD = ENV.keys.grep(/GC_/)
    KEPT = Array.new(300_000) { +"" }
    run lambda { |_env|
      3.times { GC.start }
      stat = GC.stat
      # Ruby 3.4 and 4.0, or 4.1, or before.
      allocatable = stat[:heap_allocatable_slots] || ((stat[:heap_allocatable_bytes] || (stat[:heap_allocatable_pages] * 16_000)) / 40)
      room = stat[:heap_free_slots] + allocatable
      child = IO.popen("env", &:read).scan(/^\w*GC_\w+/)
      stats = Carat.stats.slice(:gc_count, :gc_seconds, :cpu_seconds, :gc_share)
      [200, {}, [JSON.generate({ mold: IN_MOLD, child: child, room: [room, stat[:heap_live_slots]], stats: stats })]]
    }
  RUBY
  # The rows of a request stay for the next twenty, long enough to become old.
  KEEPING = <<~'RUBY'
    HEAP = Array.new(300_000) { +"" }
    kept = []
    run lambda { |env|
      kept << Array.new(1000) { |n| { id: n, tags: ["a", "b"] } }
      kept.shift if kept.size > 20
      [200, {}, [Carat.stats.values_at(:heap_extensions, :gc_share).map(&:inspect).join(" ")]]
    }
  RUBY
  OWN = "gc heap_free_slots_min_ratio: 0.6, heap_free_slots_goal_ratio: 0.65, heap_free_slots_max_ratio: 0.7"
  USER = { "RUBY_GC_HEAP_GROWTH_FACTOR" => "1.7" }.freeze

  def test_the_heap_grows_less_unless_ruby_is_to_decide
    frugal, ruby, own = [[], %w[--gc ruby], ["-C", "own.rb"]].map { |args| free_share(args) }
    assert_operator frugal, :<, 0.25
    assert_operator ruby, :>, frugal + 0.03
    assert_operator own, :>, ruby
  end

  def test_neither_the_application_nor_its_programs_see_what_carat_has_set
    answer = ask_once
    assert_equal [[], []], answer.values_at("mold", "child")
    answer = ask_once(env: USER)
    assert_equal [USER.keys] * 2, answer.values_at("mold", "child")
  end

  def test_stats_tell_what_the_collector_has_cost_since_the_fork
    stats = ask_once["stats"]
    assert_includes 3..10, stats["gc_count"]
    assert_operator stats["gc_seconds"], :<=, stats["cpu_seconds"] + 0.01
    assert_includes 0..1, stats["gc_share"]
  end

  def test_a_heap_whose_collections_come_too_often_is_extended
    server = serve(KEEPING, workers: 1, threads: 1)
    extensions, share = server.get.body.split
    assert_equal "0", extensions
    2000.times { extensions == "0" ? (extensions, share = server.get.body.split) : break }
    assert_equal "1", extensions, "collections took #{share} of the CPU time"
  ensure
    server&.stop
  end

  def test_a_heap_that_the_user_sizes_is_not_extended
    [{ args: %w[--gc ruby] }, { env: { "RUBY_GC_HEAP_GROWTH_MAX_SLOTS" => "5000" } }].each do |options|
      server = serve(KEEPING, workers: 1, threads: 1, **options)
      assert_equal "nil", server.get.body.split.first
    ensure
      server&.stop
    end
  end

  private

  def free_share(args)
    free, live = ask_once(args: args, files: { "own.rb" => OWN })["room"]
    free.to_f / (free + live)
  end

  def ask_once(**options)
    server = serve(APP, workers: 1, threads: 1, **options)
    JSON.parse(server.get.body)
  ensure
    server&.stop
  end
end
