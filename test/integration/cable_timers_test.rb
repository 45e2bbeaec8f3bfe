# frozen_string_literal: true

require "test_helper"

module Carat
  # Timers of channels (`periodically`) with the option `cable`.
  class CableTimersTest < Support::IntegrationTest
    include Support::CableServer
    needs Support::CableApp.obstacle

    CLOCK = JSON.generate("channel" => "ClockChannel")

    def test_timers_go_on_through_restarts_and_dead_workers
      server = rails(workers: 2, threads: 1)
      ann = subscriber(server, "ann", channel: CLOCK)
      ticks = []
      [-> { carat(server, "restart") },
       -> { server.workers.each_value { |pid| Process.kill(:KILL, pid) } }].each do |event|
        ticks << tick(ann) until ticks.size > 3
        old = server.workers.values
        event.call
        ticks << tick(ann) while old.include?(ticks.last["pid"])
      end

      assert_equal((1..ticks.size).to_a, ticks.map { |tick| tick["number"] })
    ensure
      carat(server, "stop") if server
    end

    def test_timers_of_a_client_that_comes_back_go_on
      server = rails(workers: 1, threads: 1, args: ["--cable", "/cable", "--cable-history", "60", *CONTROL_SOCKET])
      extended = { "Sec-WebSocket-Protocol" => "actioncable-v1-ext-json" }
      ann = socket(server, "ann", **extended)
      sid = reply(ann).fetch("sid")
      ann.json("command" => "subscribe", "identifier" => CLOCK)
      3.times { tick(ann) }
      ann.close
      eventually { stats(server).fetch("sockets").zero? }
      ann = socket(server, "ann", "X-ANYCABLE-RESTORE-SID" => sid, **extended)
      numbers = Array.new(3) { tick(ann)["number"] }

      assert_operator numbers.first, :>=, 4
      assert_equal((numbers.first..numbers.last).to_a, numbers)
    end

    private

    # The message of the next tick. That of a ping is a number.
    def tick(client)
      client.read_json { |message| message["message"].is_a?(Hash) }.fetch("message")
    end
  end
end
