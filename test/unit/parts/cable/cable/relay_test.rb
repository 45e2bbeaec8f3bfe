# frozen_string_literal: true

require "test_helper"

module Carat
  class CableRelayTest < Minitest::Test
    include Support::CableBroker
    include Support::Eventually
    needs Support::CableApp.obstacle

    # A broker that sends nothing back.
    SILENT = Class.new do
      def subscribe(_heard, ready) = ready.call
      def publish(_message) = nil
    end

    # A broker that sends to each relay in a thread of its own.
    Radio = Struct.new(:listeners, :messages) do
      def subscribe(heard, ready)
        listeners << (queue = Thread::Queue.new)
        Thread.new { loop { heard.call(queue.pop) } }
        ready.call
      end

      def publish(message)
        messages << message
        listeners.each { |queue| queue << JSON.generate(message) }
      end
    end

    def setup
      super
      @relays = []
      # Each test has a broker of its own.
      @broker = Cable.const_get(:Broker).new("ledger")
    end

    def teardown
      @relays.each(&:kill)
      super
    end

    def test_what_the_broker_sends_reaches_the_edge_once_and_in_order
      start
      texts = Array.new(20) { |number| ["room", number.to_s] }
      texts.each { |stream, payload| @broker.broadcast(stream, payload) }

      assert_equal texts, @control.broadcasts
    end

    def test_a_successor_takes_over_without_a_gap_and_without_a_double
      start
      @broker.broadcast("room", "1")
      second = Support::CableApp::Control.new([], true)
      start(second)
      @broker.broadcast("room", "2")

      assert_equal [[["room", "1"]], [["room", "2"]]], [@control.broadcasts, second.broadcasts]
    end

    def test_a_successor_waits_until_the_relay_before_it_has_passed_what_came_before
      broker = Radio.new([], [])
      gate = Thread::Queue.new
      order = []
      run_relay(broker, control { |text| order << text if gate.pop }, beat: 60)
      eventually { broker.messages.size == 1 }
      gate << broker.publish(%w[room 1])
      eventually { order.size == 1 }
      broker.publish(%w[room 2])
      run_relay(broker, control { |text| order << text }, beat: 60)
      eventually { broker.messages.size == 4 }
      gate << broker.publish(%w[room 3])
      eventually { order.size == 3 }

      assert_equal %w[1 2 3], order
    end

    def test_a_relay_that_hears_itself_again_passes_on_what_follows
      broker = Radio.new([], [])
      payloads = []
      run_relay(broker, control { |text| payloads << text }, beat: 1000)
      eventually { broker.messages.size == 1 }
      broker.publish(broker.messages.first)
      broker.publish(%w[room 1])

      eventually { payloads == ["1"] }
    end

    def test_a_relay_of_another_server_takes_nothing_away
      start
      other = Support::CableApp::Control.new([], true)
      start(other, edge: 2)
      @broker.broadcast("room", "1")

      assert_equal [[["room", "1"]]] * 2, [@control.broadcasts, other.broadcasts]
    end

    def test_a_relay_that_is_told_to_end_waits_for_its_successor
      first = start(beat: 60)
      first.raise(SignalException.new("TERM"))
      @broker.broadcast("room", "1")
      start(Support::CableApp::Control.new([], true))

      assert_raises(SignalException) { first.value }
      assert_equal [["room", "1"]], @control.broadcasts
    end

    def test_a_relay_without_a_successor_ends_soon
      relay = start
      relay.raise(SignalException.new("TERM"))

      assert_raises(SignalException) { relay.value }
    end

    def test_a_silent_broker_ends_the_relay
      relay = run_relay(SILENT.new)

      assert_match(/\Athe broker has sent nothing for \d+\.\d s\z/, assert_raises(Cable::Error) { relay.value }.message)
    end

    def test_a_broker_that_takes_nothing_ends_the_relay
      broker = SILENT.new
      def broker.publish(_message) = sleep
      relay = run_relay(broker)

      assert_equal "the broker does not answer", assert_raises(Cable::Error) { relay.value }.message
    end

    # That of Redis, when its connection breaks meanwhile.
    def test_an_adapter_that_does_not_say_when_it_hears_is_believed_when_it_does
      adapter = @broker.adapter
      def adapter.subscribe(channel, heard, _ready) = super(channel, heard)
      start(count: 2)
      @broker.broadcast("room", "1")

      assert_equal [["room", "1"]], @control.broadcasts
    end

    def test_what_is_no_broadcast_is_dropped_and_logged
      start
      ["no JSON", "[1]", '["room","1","2"]', '[null,"x","y"]', JSON.generate(["r" * 1025, "1"])].each do |text|
        @broker.adapter.broadcast("carat", text)
      end
      @broker.broadcast("room", "1")

      assert_equal [["room", "1"]], @control.broadcasts
      assert_equal 5, log.scan("cable: a message of the broker is dropped: ").size
    end

    def test_what_the_edge_refuses_is_logged
      @control.takes = false
      start
      @broker.broadcast("room", "1")

      assert_match(/is dropped: the edge does not take it/, log)
    end

    private

    def run_relay(broker = @broker, control = @control, edge: own, beat: 0.05)
      relay = Cable.const_get(:Relay).new(broker, control, edge, beat:)
      @relays << Thread.new { relay.run }
      @relays.last.report_on_exception = false
      @relays.last
    end

    # In the place of the edge's pid: relays of earlier tests keep their locks until they are collected.
    def own
      "#{Process.pid}.#{object_id}"
    end

    # Returns a Control that calls the block with each payload.
    def control
      Object.new.tap { |control| control.define_singleton_method(:broadcast) { |_stream, payload| yield(payload) } }
    end

    # Returns the thread of a relay that has taken over.
    def start(control = @control, edge: own, beat: 0.05, count: 1)
      count += messages.size
      run_relay(@broker, control, edge:, beat:).tap { eventually { messages.size >= count } }
    end
  end
end
