# frozen_string_literal: true

require "active_record"
require "test_helper"

class ActionCableTest < Support::IntegrationTest
  include Support::CableServer

  def test_subscribers_of_two_workers_hear_each_other_through_redis
    url = "unix://#{Support::RedisServer.shared.path}"
    assert_all_hear(rails(adapter: "redis", url: url, workers: 2, threads: 1))
  end

  def test_subscribers_of_fibers_in_two_workers_hear_each_other_through_postgresql
    skip "fibers need Rails 7.0 or later" if ActiveRecord.version < Gem::Version.new("7.0")

    assert_all_hear(rails(adapter: "postgresql", env: postgres, workers: 2, fibers: 16))
  end

  def test_many_subscribers_leave_the_threads_free
    server = rails(adapter: "async", workers: 1, threads: 2)
    members = Array.new(100) { |number| subscriber(server, "n#{number}") }
    say(members.last, "all")

    members.each { |member| assert_equal "n99: all", heard(member) }
    assert_equal 200, server.get("/pid").status
  end

  def test_what_rails_refuses_stays_http
    server = rails(adapter: "async", workers: 1, threads: 1)
    client = server.connect
    foreign = Support::WebSocketClient.new(client, "/cable?name=x", "Origin" => "http://elsewhere.test")

    assert_equal 404, foreign.response.status
    assert_equal 200, client.get("/pid").status
    nobody = Support::WebSocketClient.new(server.connect, "/cable", ORIGIN)
    assert_predicate nobody, :accepted?
    assert_equal "unauthorized", nobody.read_json { |message| message["type"] == "disconnect" }["reason"]
  end

  def test_a_restart_ends_the_sockets_and_leaves_no_process
    server = rails(adapter: "async", workers: 1, threads: 1, args: %w[--tunnel-timeout 200ms])
    member = subscriber(server, "ann")
    old = server.get("/pid").body
    server.kill(:USR1)

    assert_raises(EOFError) { loop { member.read_text } }
    eventually { server.workers.size == 1 && server.get("/pid").body != old }
    say(again = subscriber(server, "ben"), "back")
    assert_equal "ben: back", heard(again)
    refute_match(/ending worker/, server.log)
  end

  private

  # With Action Cable's own sockets, and the adapter's settings.
  def rails(adapter:, url: nil, env: {}, **options)
    cable = "production:\n  adapter: #{adapter}\n#{"  url: #{url}\n" if url}"
    serve(APP, files: { "config/cable.yml" => cable }, env: { "RAILS_ENV" => "production", **env }, **options)
  end

  def postgres
    server = Support::Postgres.shared
    { "DATABASE_URL" => "postgresql:///postgres", "PGHOST" => server.directory, "PGPORT" => server.port.to_s,
      "PGUSER" => "carat" }
  end

  def assert_all_hear(server, workers: 2)
    eventually { server.workers.size == workers }
    members = Array.new(12) { |number| subscriber(server, "n#{number}") }
    say(members.first, "hello")

    members.each { |member| assert_equal "n0: hello", heard(member) }
    refute_match(/ERROR|Error/, server.log)
  end
end
