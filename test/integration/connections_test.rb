# frozen_string_literal: true

require "json"
require "test_helper"

# Connections that the application opens while it is loaded: the mold has closed them before it forks, and each worker
# opens its own.
class ConnectionsTest < Support::IntegrationTest
  # What all applications answer, when both workers have been asked: the worker, what the server calls its connection,
  # and the inodes of its sockets.
  ANSWER = <<~'RUBY'
    SOCKETS = -> { Dir["/proc/self/fd/*"].filter_map { |path| File.readlink(path)[/socket:.*/] rescue nil } }
    ANSWER = lambda { |_env|
      connection = ASK.call.to_s
      File.write("asked-#{Process.pid}", "")
      sleep 0.002 until Dir["asked-*"].size == 2
      [200, {}, [JSON.generate([Process.pid, connection, SOCKETS.call])]]
    }
  RUBY
  PG_PID = "select pg_backend_pid()"
  SEQUEL = <<~RUBY
    require "json"
    require "sequel"
    DB = Sequel.connect(ENV.fetch("POSTGRES"))
    ASK = -> { DB.get(Sequel.lit("pg_backend_pid()")) }
    2.times.map { Thread.new { ASK.call } }.each(&:join)
    #{ANSWER}
    run ANSWER
  RUBY
  RECORDS = <<~RUBY
    require "json"
    require "logger"
    require "active_record"
    postgres = { "adapter" => "postgresql", "database" => "postgres" } # the rest is in libpq's variables
    databases = { "primary" => postgres, "replica" => { **postgres, "replica" => true } }
    ActiveRecord::Base.configurations = { "development" => databases }
    ActiveRecord::Base.establish_connection(:primary)
    class Other < ActiveRecord::Base
      self.abstract_class = true
      connects_to database: { writing: :primary, reading: :replica }
    end
    PID = ->(model) { model.connection_pool.with_connection { |connection| connection.select_value("#{PG_PID}") } }
    ASK = -> { PID.call(ActiveRecord::Base) }
    ASK.call
    ActiveRecord::Base.connected_to(role: :reading) { PID.call(Other) }
    ActiveRecord::Base.connection.select_value("select 1") # leased by the thread that is the mold's
    #{ANSWER}
    run ANSWER
  RUBY
  REDIS = <<~RUBY
    require "json"
    require "redis"
    CLIENT = Redis.new(path: ENV.fetch("REDIS_SOCKET"))
    POOL = Array.new(3) { Redis.new(path: ENV.fetch("REDIS_SOCKET")) }
    POOL.each(&:ping)
    ASK = -> { CLIENT.call("CLIENT", "ID") }
    ASK.call
    #{ANSWER}
    run ANSWER
  RUBY
  # Before and after the others: the order in which Ruby finds its objects is its own.
  HALF_BUILT_REDIS = <<~RUBY
    require "redis"
    half = lambda do
      Redis.new(url: "nonsense://x")
    rescue ArgumentError
      ObjectSpace.each_object(Redis).to_a
    end
    HALVES = [half.call]
    #{REDIS}
    HALVES << half.call
  RUBY
  REDIS_CLIENT = <<~RUBY
    require "json"
    require "redis-client"
    CONFIG = RedisClient.config(path: ENV.fetch("REDIS_SOCKET"))
    CLIENTS = CONFIG.new_pool(size: 2)
    ASK = -> { CLIENTS.call("CLIENT", "ID") }
    ASK.call
    #{ANSWER}
    run ANSWER
  RUBY

  def test_sequel
    assert_own_connections(SEQUEL, postgres) { postgres.connections }
  end

  def test_active_record_with_all_its_databases_and_roles
    assert_own_connections(RECORDS, postgres) { postgres.connections }
  end

  def test_redis
    assert_own_connections(REDIS, redis) { redis.connections }
  end

  def test_redis_beside_objects_that_could_not_be_built
    assert_own_connections(HALF_BUILT_REDIS, redis) { redis.connections }
  end

  def test_redis_client_and_its_pools
    Gem::Specification.find_by_name("redis-client")
    assert_own_connections(REDIS_CLIENT, redis) { redis.connections }
  rescue Gem::MissingSpecError
    skip "redis-client is not installed"
  end

  def test_what_sequel_keeps_in_memory_stays
    version = Gem::Specification.find_by_name("sqlite3").version
    skip "sqlite3 #{version} closes inherited databases" if version >= Gem::Version.new("2")

    server = serve(<<~'RUBY', workers: 1, threads: 1)
      require "sequel"
      DB = Sequel.sqlite
      DB.create_table(:words) { String :word }
      DB[:words].insert(word: "kept")
      run ->(_env) { [200, {}, [DB[:words].get(:word)]] }
    RUBY
    assert_equal "kept", server.get.body
  end

  def test_a_connection_that_cannot_be_closed_is_told_and_the_others_are_closed
    server = serve(<<~'RUBY', workers: 1, threads: 1)
      require "sequel"
      class Redis
        def close = $stderr.puts("closed")
      end
      CLIENT = Redis.new
      DB = Sequel.mock
      def DB.disconnect = raise(Sequel::Error, "not now")
      run ->(_env) { [200, {}, ["ok"]] }
    RUBY
    assert_equal "ok", server.get.body
    await_log(server, /^carat: mold: cannot close a connection before the fork: .*not now/)
    await_log(server, /^closed$/)
  end

  def test_a_module_of_the_application_that_is_called_redis_is_none_of_ours
    server = serve(<<~'RUBY', workers: 1, threads: 1)
      module Redis
        def close = $stderr.puts("closed")
      end
      STORE = Class.new { include Redis }.new
      run ->(_env) { [200, {}, ["ok"]] }
    RUBY
    assert_equal "ok", server.get.body
    refute_match(/closed/, server.log)
  end

  private

  # The block tells how many connections the daemon has.
  def assert_own_connections(app, _daemon)
    eventually(message: "no connection of earlier tests") { yield.zero? }
    server = serve(app, workers: 2, threads: 1, env: environment)
    await_workers(server, 2)
    eventually(message: "no connection after the boot") { yield.zero? }
    (pid, connection, sockets), (other_pid, other_connection, other_sockets) = answers(server)
    refute_equal pid, other_pid
    refute_equal connection, other_connection
    assert_empty sockets & other_sockets
    assert_equal 2, yield
  end

  # Of two requests that are under way at once.
  def answers(server)
    clients = Array.new(2) { ask(server, "GET", "/") }
    clients.map { |client| client.read_response.then { |response| JSON.parse(response.body) } }
  end

  def environment
    { "POSTGRES" => postgres.url, "PGHOST" => postgres.directory, "PGPORT" => postgres.port.to_s,
      "PGUSER" => Support::Postgres::OWNER, "REDIS_SOCKET" => redis.path }
  end

  def postgres
    Support::Postgres.shared
  end

  def redis
    Support::RedisServer.shared
  end
end
