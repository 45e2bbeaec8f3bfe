# frozen_string_literal: true

require "test_helper"
require "support/redis_server"
require "support/web_socket_client"

# ActionCable as Rails has it: rack.hijack, and an event loop on nio4r.
class ActionCableTest < Support::IntegrationTest
  APP = <<~'RUBY'
    require "logger"
    require "action_controller/railtie"
    require "action_cable/engine"

    class Shop < Rails::Application
      config.load_defaults Rails::VERSION::STRING.to_f
      config.eager_load = true
      config.hosts = nil
      config.secret_key_base = "secret" * 10
      config.logger = Logger.new($stdout)
      config.log_level = :error
      config.action_cable.allowed_request_origins = ["http://shop.test"]
      routes.append { get "/pid", to: "pids#show" }
    end

    class PidsController < ActionController::Base
      def show = render(plain: Process.pid.to_s)
    end

    module ApplicationCable
      class Connection < ActionCable::Connection::Base
        identified_by :name

        def connect
          self.name = request.params[:name] || reject_unauthorized_connection
        end
      end
    end

    class RoomChannel < ActionCable::Channel::Base
      def subscribed = stream_from("room")
      def unsubscribed = ActionCable.server.broadcast("room", { "text" => "#{name} left" })
      def say(data) = ActionCable.server.broadcast("room", { "text" => "#{name}: #{data["text"]}" })
    end

    Shop.initialize!
    run Rails.application
  RUBY
  ORIGIN = { "Origin" => "http://shop.test" }.freeze
  ROOM = JSON.generate("channel" => "RoomChannel")

  def test_all_subscribers_of_a_worker_hear_each_other
    server = rails(adapter: "async", workers: 1, threads: 3)
    ann, *others = %w[ann ben cid].map { |name| subscriber(server, name) }
    say(ann, "grüße")

    [ann, *others].each { |member| assert_equal "ann: grüße", heard(member) }
    ann.close
    others.each { |member| assert_equal "ann left", heard(member) }
    assert_empty server.log[/ERROR.*/].to_s
  end

  def test_subscribers_of_two_workers_hear_each_other_through_redis
    server = rails(adapter: "redis", workers: 2, threads: 1)
    members = Array.new(12) { |number| subscriber(server, "n#{number}") }
    eventually { server.workers.size == 2 }
    say(members.first, "hello")

    members.each { |member| assert_equal "n0: hello", heard(member) }
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

  def rails(adapter:, **options)
    redis = "  url: unix://#{Support::RedisServer.shared.path}\n" if adapter == "redis"
    cable = "production:\n  adapter: #{adapter}\n#{redis}"
    serve(APP, files: { "config/cable.yml" => cable }, env: { "RAILS_ENV" => "production" }, **options)
  end

  def subscriber(server, name)
    socket = Support::WebSocketClient.new(server.connect, "/cable?name=#{name}", ORIGIN)
    assert_predicate socket, :accepted?, socket.response.inspect
    socket.read_json { |message| message["type"] == "welcome" }
    socket.json("command" => "subscribe", "identifier" => ROOM)
    socket.read_json { |message| message["type"] == "confirm_subscription" }
    socket
  end

  def say(socket, text)
    data = JSON.generate("action" => "say", "text" => text)
    socket.json("command" => "message", "identifier" => ROOM, "data" => data)
  end

  def heard(socket)
    socket.read_json { |message| message["message"] }.dig("message", "text")
  end
end
