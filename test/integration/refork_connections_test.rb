# frozen_string_literal: true

require "json"
require "test_helper"

# Connections that a worker has used while it served: they end before it forks, and each new worker opens its own.
class ReforkConnectionsTest < Support::IntegrationTest
  SEQUEL = <<~'RUBY'
    require "json"
    require "sequel"
    DB = Sequel.connect(ENV.fetch("POSTGRES"))
    run lambda { |_env|
      connection = DB.get(Sequel.lit("pg_backend_pid()"))
      sleep 0.05
      [200, {}, [JSON.generate([Process.pid, Carat.stats[:generation], connection])]]
    }
  RUBY
  RECORDS = <<~'RUBY'
    require "json"
    require "logger"
    require "active_record"
    ActiveRecord::Base.establish_connection("adapter" => "postgresql", "database" => "postgres", "pool" => 20)
    run lambda { |_env|
      connection = ActiveRecord::Base.connection.select_value("select pg_backend_pid()")
      sleep 0.05
      [200, {}, [JSON.generate([Process.pid, Carat.stats[:generation], connection])]]
    }
  RUBY

  def test_sequel_with_threads_and_fibers
    assert_own_connections(SEQUEL, threads: 2)
    assert_own_connections(SEQUEL, fibers: 4)
  end

  def test_active_record_with_threads
    assert_own_connections(RECORDS, threads: 2)
  end

  def test_active_record_with_fibers
    skip "fibers need Rails 7.0" if Gem::Specification.find_by_name("activerecord").version < Gem::Version.new("7.0")
    assert_own_connections(RECORDS, fibers: 4)
  end

  private

  def assert_own_connections(app, **options)
    server = serve(app, workers: 2, args: %w[--refork 10,1000000], env: environment, **options)
    old = answers(server)
    renewed = eventually(message: "two workers of the second generation") do
      answers(server).then { |all| all if all.map { |_, generation| generation } == [2] * 8 && pids(all).size == 2 }
    end

    assert_empty connections(renewed) & connections(old)
    renewed.combination(2) { |one, other| refute_equal one.last, other.last if one.first != other.first }
    assert_equal 1, Support::ProcessTree.sockets(server.mold).size
    server.stop
  end

  # Of requests that are under way at once.
  def answers(server)
    clients = Array.new(8) { ask(server, "GET", "/") }
    clients.map { |client| client.read_response.then { |response| JSON.parse(response.body) } }
  ensure
    clients&.each(&:close)
  end

  def connections(answers)
    answers.map(&:last).uniq
  end

  def pids(answers)
    answers.map(&:first).uniq
  end

  def environment
    postgres = Support::Postgres.shared
    { "POSTGRES" => postgres.url, "PGHOST" => postgres.directory, "PGPORT" => postgres.port.to_s, "PGUSER" => "carat" }
  end
end
