# frozen_string_literal: true

require "test_helper"
require "active_record/version"

# What libraries keep for a thread, they keep for a fiber, where they can.
class FiberIsolationTest < Support::IntegrationTest
  OLD = Gem::Version.new(ActiveRecord::VERSION::STRING) < Gem::Version.new("7.0")
  RECORDS = <<~RUBY
    require "logger"
    require "active_record"
    run ->(_env) { [200, {}, ["served"]] }
  RUBY
  # Says whether the transaction of a request is there for another that runs meanwhile.
  SEQUEL = <<~RUBY
    require "sequel"
    DATABASE = Sequel.sqlite("isolation.sqlite3", max_connections: 2)
    SEEN = []
    run(lambda do |env|
      DATABASE.transaction { sleep 0.001 until SEEN.any? } if env["PATH_INFO"] == "/first"
      SEEN << DATABASE.in_transaction?.to_s if env["PATH_INFO"] == "/second"
      [200, {}, SEEN]
    end)
  RUBY

  def test_an_active_record_that_cannot_tell_fibers_apart_is_refused
    skip "Rails #{ActiveRecord::VERSION::STRING} can" unless OLD
    server = server(app: RECORDS, workers: 1, fibers: 4)
    assert_equal 1, server.run.exitstatus
    await_log(server, /^carat: fibers need Rails 7\.0 or later: ActiveRecord 6\.\S+ gives all fibers of a /)
  end

  def test_active_record_without_a_base_class_is_not_loaded_for_the_purpose
    skip "fibers need Rails 7.0 or later" if OLD
    app = RECORDS.sub('"served"', "ActiveRecord.autoload?(:Base).to_s")
    assert_equal "active_record/base", serve(app, workers: 1, fibers: 4).get.body
  end

  def test_sequel_has_a_connection_for_each_fiber_without_being_told
    server = serve(SEQUEL, workers: 1, fibers: 4)
    first = ask(server, "GET", "/first")
    assert_equal ["false"] * 2, [server.get("/second").body, first.read_response.body]
  end
end
