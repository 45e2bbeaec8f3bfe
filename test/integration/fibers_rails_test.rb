# frozen_string_literal: true

require "json"
require "test_helper"
require "active_record"

# Rails in fibers, with a pool of database connections that is smaller than their number. Queries wait for a lock that
# the test holds.
class FibersRailsTest < Support::IntegrationTest
  include Support::HeldQueries
  needs(ActiveRecord.version < Gem::Version.new("7.0") ? "fibers need Rails 7.0 or later" : nil)

  POOL = 5
  WAIT = "#{Support::HeldQueries::WAIT}::text".freeze
  APP = <<~RUBY
    require "logger"
    require "active_record/railtie"
    require "action_controller/railtie"

    class Shop < Rails::Application
      config.load_defaults Rails::VERSION::STRING.to_f
      config.eager_load = true
      config.hosts = nil
      config.secret_key_base = "secret" * 10
      config.logger = Logger.new($stdout)
      config.log_level = :error
      routes.append do
        AnswersController.action_methods.each { |name| get name, to: "answers#\#{name}" }
      end
    end

    class Current < ActiveSupport::CurrentAttributes
      attribute :user
    end

    class Item < ActiveRecord::Base
    end

    class AnswersController < ActionController::Base
      include ActionController::Live if ENV["LIVE"]

      def pid = render(plain: Process.pid.to_s)
      def isolation = render(plain: ActiveSupport::IsolatedExecutionState.isolation_level.to_s)
      def one = render(plain: query("select 1"))
      def wait = render(plain: query("#{WAIT}"))
      def lease = render(plain: ActiveRecord::Base.lease_connection.select_value("#{WAIT}"))
      def stat = render(json: ActiveRecord::Base.connection_pool.stat)

      def given_up = Timeout.timeout(0.05) { query("#{WAIT}") }

      def cancelled
        ActiveRecord::Base.transaction { query("set local statement_timeout = 1").then { query("#{WAIT}") } }
      end

      def transaction
        Item.transaction do
          Item.create!(name: params[:name])
          query("#{WAIT}")
          raise ActiveRecord::Rollback if params[:undo]
        end
        render plain: Item.where(name: params[:name]).count
      end

      def remember
        seen = [Current.user, Time.zone.name, I18n.locale, Thread.current[:kept], Fiber[:kept]]
        Current.user = Thread.current[:kept] = Fiber[:kept] = params[:name]
        Time.zone = "Tokyo"
        I18n.locale = :de
        query("#{WAIT}") if params[:name]
        render json: seen + [Current.user, Time.zone.name, I18n.locale, Thread.current[:kept], Fiber[:kept]]
      end

      def stream
        response.headers["content-type"] = "text/plain"
        self.response_body = Enumerator.new { |lines| lines << query("select 'a'") << query("#{WAIT}") << "b" }
      end

      def live
        response.stream.write(query("#{WAIT}"))
        response.stream.write(Thread.current.name == "carat lane 0" ? "the lane" : "a thread")
      ensure
        response.stream.close
      end

      private

      def query(sql) = ActiveRecord::Base.connection_pool.with_connection { |connection| connection.select_value(sql) }
    end

    I18n.available_locales = %i[en de]
    Shop.initialize!
    ActiveRecord::Base.lease_connection.execute("create table if not exists items (id serial, name text)")
    run Shop
  RUBY

  def test_rails_keeps_its_state_for_each_fiber_without_being_told
    start
    assert_equal "fiber", @server.get("/isolation").body
    await_log(@server, /^carat: mold: 64 fibers of a worker share 5 connections to the database "primary"/)
  end

  def test_all_of_fifty_requests_get_their_turn_with_five_connections
    start
    lock
    clients = ask_for("/wait", 50)
    await_queries(WAIT, POOL)
    assert_equal worker, @server.get("/pid").body
    unlock
    assert_equal [200] * 50, statuses(clients)
    assert_whole_pool
  end

  def test_a_request_that_waits_too_long_for_a_connection_is_an_error_alone
    start(pool: 1, checkout_timeout: 0.1)
    lock
    first = ask(@server, "GET", "/wait")
    await_queries(WAIT, 1)
    assert_equal 500, @server.get("/one").status
    unlock
    assert_equal [200, 200], [first.read_response.status, @server.get("/one").status]
    await_log(@server, /ConnectionTimeoutError/)
    assert_whole_pool(1)
  end

  def test_transactions_of_two_requests_are_two_transactions
    start
    lock
    clients = %w[/transaction?name=kept /transaction?name=undone&undo=1].map { |path| ask(@server, "GET", path) }
    await_queries(WAIT, 2)
    assert_equal "0", postgres.execute("select count(*) from items").first["count"]
    unlock
    assert_equal(%w[1 0], clients.map { |client| client.read_response.body })
  ensure
    postgres.execute("drop table if exists items")
  end

  def test_clients_that_leave_leave_their_connections_behind
    start
    %w[/wait /lease /stream].each do |path|
      lock
      clients = ask_for(path, 10)
      await_queries(WAIT, POOL)
      clients.each(&:close)
      see_edge_go_round(@server)
      unlock
      await_queries(WAIT, 0)
      assert_whole_pool
    end
  end

  def test_a_query_that_takes_too_long_is_an_error_of_its_request_alone
    start
    lock
    assert_equal [500] * 10, statuses(ask_for("/cancelled", 10))
    await_log(@server, /canceling statement due to statement timeout/)
    unlock
    assert_whole_pool
  end

  def test_a_query_that_the_application_gives_up_is_an_error_of_its_request_alone
    start
    assert_whole_pool # ActiveRecord does not get over a Timeout while it makes a connection
    lock
    assert_equal [500] * 10, statuses(ask_for("/given_up", 10))
    unlock
    assert_whole_pool
  end

  def test_a_database_that_is_started_again_costs_errors_but_no_worker
    start
    lock
    broken = ask_for("/wait", POOL)
    await_queries(WAIT, POOL)
    postgres.restart
    @holder = nil
    assert_equal [500] * POOL, statuses(broken)
    assert_equal [200, worker], [@server.get("/one").status, @server.get("/pid").body]
    assert_whole_pool
  ensure
    postgres.start unless postgres.running?
  end

  def test_nothing_of_one_request_is_there_for_another
    start
    nobody = [nil, "UTC", "en", nil, nil]
    lock
    clients = %w[anna ben].map { |name| ask(@server, "GET", "/remember?name=#{name}") }
    await_queries(WAIT, 2)
    assert_equal nobody, remembered(@server.get("/remember")).first
    unlock
    assert_equal(%w[anna ben].map { |name| [nobody, [name, "Tokyo", "de", name, name]] },
                 clients.map { |client| remembered(client.read_response) })
    assert_equal [nobody] * 5, Array.new(5) { remembered(@server.get("/remember")).first }
  end

  def test_live_streams_run_in_threads_of_their_own_and_lose_no_connection
    start(env: { "LIVE" => "1" })
    lock
    clients = ask_for("/live", 10)
    await_queries(WAIT, POOL)
    unlock
    assert_equal(["a thread"] * 10, clients.map { |client| client.read_response.body })
    assert_whole_pool
  end

  private

  def start(pool: POOL, checkout_timeout: 30, env: {})
    url = "#{postgres.url}&pool=#{pool}&checkout_timeout=#{checkout_timeout}"
    @server = serve(APP, workers: 1, fibers: 64, env: { "DATABASE_URL" => url, "RAILS_ENV" => "production", **env })
    worker
  end

  def worker
    @worker ||= @server.get("/pid").body
  end

  # What a request found, and what it kept.
  def remembered(response)
    JSON.parse(response.body).each_slice(5).to_a
  end

  # No connection has been lost, and none is kept by a request that is over.
  def assert_whole_pool(size = POOL)
    assert_turns(size)
    stat = JSON.parse(@server.get("/stat").body)
    assert_equal [size, 0, 0, 0], stat.values_at("connections", "busy", "dead", "waiting")
  end
end
