# frozen_string_literal: true

require "redis"
require "test_helper"

module Scheduler
  # The driver `redis` with its Ruby connection: 4.8 uses the socket directly, 5 through `redis-client`.
  class RedisTest < Support::SchedulerTest
    # The errors of a command whose connection ends.
    GONE = Redis::BaseConnectionError

    def setup
      @clients = []
    end

    def teardown
      @clients.each(&:close)
      super
    end

    def test_fifty_fibers_write_and_read_at_once
      values = fibers do
        found = {}
        50.times { |number| go { found[number] = write_and_read(number) } }
        found.tap { give_way_until { found.size == 50 } }
      end
      assert_equal (0...50).to_h { |number| [number, number.to_s] }, values
    end

    def test_a_fiber_that_waits_for_an_element_lets_the_others_go_on
      fibers do
        found = nil
        go { found = client.blpop("elements", timeout: 1000) }
        give_way_until { server.blocked == 1 }
        client.rpush("elements", "first")
        give_way_until { found }
        assert_equal %w[elements first], found
      end
    end

    def test_waiting_for_an_element_gives_up_after_its_time
      assert_nil(fibers { client.blpop("nothing", timeout: 0.01) })
    end

    def test_messages_reach_the_fibers_that_subscribe
      messages = []
      fibers do
        2.times { go { subscribe(messages) } }
        give_way_until { Array(client.pubsub(:numsub, "news")).flatten.last == 2 }
        client.publish("news", "over")
      end
      assert_equal %w[over over], messages
    end

    def test_a_large_value_arrives_while_others_run
      large = "x" * (20 * 1024 * 1024)
      fibers do
        client.set("large", large)
        turns = 0
        fiber = go { assert_equal large.bytesize, client.get("large").bytesize }
        turns += 1 while fiber.alive? && sleep(0)
        assert_operator turns, :>, 10
      end
    end

    def test_a_server_that_stops_raises_in_every_fiber_that_waits
      fibers do
        errors = []
        redis = client
        waiting = Array.new(10) { go { errors << assert_raises(GONE) { client.blpop("nothing", timeout: 1000) } } }
        give_way_until { server.blocked == 10 }
        server.stop(:KILL)
        give_way_until { waiting.none?(&:alive?) }
        server.start
        assert_equal ["PONG", 10], [redis.ping, errors.size]
      end
    ensure
      server.start unless server.running?
    end

    private

    def server
      Support::RedisServer.shared
    end

    # A new connection, closed after the test.
    def client
      Redis.new(path: server.path, reconnect_attempts: 0).tap { |redis| @clients << redis }
    end

    def write_and_read(number, redis = client)
      redis.set("key #{number}", number)
      redis.get("key #{number}")
    end

    # Records the first message.
    def subscribe(messages)
      redis = client
      redis.subscribe("news") do |on|
        on.message do |_channel, message|
          messages << message
          redis.unsubscribe("news")
        end
      end
    end
  end
end
