# frozen_string_literal: true

require "securerandom"
require "test_helper"

# ActiveRecord in workers that run requests in threads or in fibers, with SQLite and with PostgreSQL.
class RailsDatabasesTest < Support::ShopTest
  REQUESTS = 24

  def test_sqlite_counts_every_request_once
    in_threads_and_fibers { |options| assert_all_counted(shop(env: { "POOL" => "8" }, **options)) }
  end

  def test_postgresql_counts_every_request_once
    in_threads_and_fibers do |options|
      postgres { |env, _| assert_all_counted(shop(env: { "POOL" => "8", **env }, **options, workers: 2)) }
    end
  end

  def test_no_worker_shares_a_connection_and_the_mold_keeps_none
    postgres do |env, database|
      server = shop(env: env, threads: 2, workers: 2)
      assert_all_counted(server)

      assert_empty Support::ProcessTree.sockets(server.mold)[1..]
      assert_operator connections(database), :<=, 2 * 2
      server.stop
      eventually { connections(database).zero? }
    end
  end

  def test_a_pool_that_is_too_small_is_named_for_each_database
    in_threads_and_fibers do |options|
      option, count = options.first
      server = shop(env: { "POOL" => "1" }, **options)

      %w[primary archive].each do |database|
        await_log(server, /mold: #{count} #{option} of a worker share 1 connection to the database "#{database}": /)
      end
      assert_all_counted(server)
    end
  end

  def test_a_second_database_and_its_replica
    in_threads_and_fibers do |options|
      server = shop(**options)
      %w[one two].each { |text| assert_equal 201, server.request("POST", "/entries?text=#{text}").status }

      clients = Array.new(REQUESTS) { |number| ask(server, "GET", number.even? ? "/entries" : "/workers/count") }
      answers = clients.map { |client| json(client.read_response) }
      assert_equal [{ "texts" => %w[one two], "writable" => false, "primary" => "primary" }],
                   answers.select { |answer| answer.key?("texts") }.uniq
    end
  end

  private

  # Each of the requests, most of them at once, has added a row; no connection is still in use.
  def assert_all_counted(server)
    before = json(server.get("/workers/count")).fetch("items")
    clients = Array.new(REQUESTS) { ask(server, "GET", "/workers/count") }
    assert_equal [200] * REQUESTS, (clients.map { |client| client.read_response.status })
    last = json(server.get("/workers/count"))

    assert_equal before + REQUESTS + 1, last.fetch("items")
    assert_equal [0, 0], last.fetch("pool").values_at("dead", "waiting")
    assert_operator last.fetch("pool").fetch("busy"), :<=, 1 # its own, until Rails 7.2
  end

  # Yields the environment of an application that uses a new database, and the name of that.
  def postgres
    server = Support::Postgres.shared
    name = "shop_#{SecureRandom.hex(4)}"
    server.execute("create database #{name}")
    yield({ "DATABASE" => name, "PGHOST" => server.directory, "PGPORT" => server.port.to_s, "PGUSER" => "carat" }, name)
  end

  def connections(database)
    Support::Postgres.shared.execute("select from pg_stat_activity where datname = $1", database).size
  end
end
