# frozen_string_literal: true

require "test_helper"
require "logger"
require "active_record"
require "carat"
require "json"
require "zlib"

# Each example of docs/neverblock.md runs.
class NeverblockDocsTest < Support::IntegrationTest
  PAGE = File.expand_path("../../docs/neverblock.md", __dir__)
  CONFIG, THREAD, STATS, SEQUEL, RECORDS, *OTHERS = File.read(PAGE).scan(/^```ruby\n(.*?)^```/m).flatten

  def test_the_application_with_a_pool_is_served_in_fibers
    server = serve(SEQUEL, config: CONFIG, env: { "DATABASE_URL" => Support::Postgres.shared.url })
    answers = Array.new(20) { ask(server, "GET", "/?a") }.map(&:read_response)

    assert_equal([200], answers.map(&:status).uniq)
    assert_match(/\A\d+ of PostgreSQL \d+/, answers.first.body)
    assert_equal 2, server.workers.size
  end

  def test_the_figures_are_there
    app = "require \"json\"\nrun ->(_env) { [200, {}, [JSON.generate(#{STATS.strip})]] }"
    lane = JSON.parse(serve(app, config: CONFIG).get.body).first

    assert_equal [1, 64, true], [*lane.values_at("running", "capacity"), lane["longest_run"] >= 0]
  end

  def test_a_thread_does_what_would_block
    report = "carat" * 1000
    packed = Thread.new { Carat.run { eval(THREAD, binding) } }.value

    assert_equal report, Zlib.gunzip(packed)
  end

  def test_fibers_share_the_pool_of_active_record
    skip "fibers need Rails 7.0 or later" if ActiveRecord.version < Gem::Version.new("7.0")
    ActiveRecord::Base.establish_connection("#{Support::Postgres.shared.url}&pool=2")
    Thread.new { eval(RECORDS, binding) }.join

    assert_equal [2, 0], ActiveRecord::Base.connection_pool.stat.values_at(:connections, :busy)
  ensure
    ActiveRecord::Base.remove_connection
  end

  def test_every_example_is_tested
    assert_empty OTHERS
  end
end
