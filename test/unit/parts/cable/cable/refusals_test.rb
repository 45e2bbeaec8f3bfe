# frozen_string_literal: true

require "carat/parts/cable/cable/refusals"
require "test_helper"

module Carat
  class CableRefusalsTest < Minitest::Test
    include Support::CableApp
    needs Support::CableApp.obstacle

    # Each of these would be silently different.
    REFUSED = {
      "block" => "def subscribed\n  stream_from('a') { |message| transmit(message) }\nend",
      "inner block" => "def subscribed\n  [1].each { |n|\n    stream_for(n) do end }\nend",
      "rescued" => "def hear\n  x = 1\nrescue ArgumentError\n  stream_from('a') {}\nend",
      "private" => "private def hear\n  stream_from('a') {}\nend"
    }.freeze

    ACCEPTED = ["def subscribed = stream_from('a')", "def subscribed = stream_from('a', coder: ActiveSupport::JSON)",
                "def subscribed = [1].each { |n| stream_for(n) }",
                "def subscribed = tap { stream_or_reject_for([1]) }",
                "def subscribed(**options, &block) = stream_from('a', **options, &block)"].freeze

    def test_streams_with_blocks_are_refused_with_class_file_and_line
      REFUSED.each do |name, code|
        channel = channel(code)
        line = code.lines.index { |text| text.include?("stream_") } + 1
        error = assert_raises(Cable::Error, name) { refusals.check_channel(channel) }

        assert_equal "RefusedChannel, chat.rb:#{line}: `stream_from` with a block does not work with the option " \
                     "`cable`", error.message
      end
    end

    def test_other_streams_are_accepted
      ACCEPTED.each { |code| assert refusals.check_channel(channel(code)), code }
    end

    def test_modules_of_a_channel_are_checked
      concern = Module.new { class_eval("def hear\n  stream_from('a') {}\nend", "concern.rb", 1) }
      channel = channel("").tap { |owner| owner.include(concern) }

      assert_match(/\ARefusedChannel, concern.rb:2:/, refusal(channel))
    end

    def test_timers_are_accepted_within_bounds
      refusals.check_channel(channel("periodically(every: 0.1) { 1 }\n" * 8))

      assert_match(/\ARefusedChannel, chat.rb:9: `periodically` more than 8 times does/,
                   refusal(channel("periodically(every: 1) { 1 }\n" * 9)))
      assert_match(/\ARefusedChannel, chat.rb:2: `periodically` every 0.05 seconds does/,
                   refusal(channel("periodically :x, every: 1\nperiodically(every: 0.05) { 1 }")))
      assert_match(/`periodically` every 0.05 seconds does not/, refusal(channel("periodically :x, every: 0.05")))
    end

    def test_methods_that_messages_do_not_pass_are_refused
      assert_match(/\ARefusedChannel, chat.rb:1: a method `transmit` of its own/,
                   refusal(channel("def transmit(data, via: nil) = super")))
      connection = Class.new(ActionCable::Connection::Base) { def receive(text) = super }

      assert_match(/refusals_test.rb:\d+: a method `receive`/,
                   assert_raises(Cable::Error) { refusals.check_connection(connection) }.message)
    end

    def test_what_no_check_finds_is_refused_in_the_command
      channel("def subscribed = stream_from('a', &:itself)\n" \
              "def call = stream_for('a', ->(message) { transmit(message) })\n" \
              "def code = stream_from('a', coder: Marshal)")
      response = post("command" => "subscribe", "connection" => connected, "identifier" => identifier("RefusedChannel"))

      assert_equal [500, "pending"], [response.status, JSON.parse(response.body)["subscription"]]
      assert_match(/`stream_from` with a block does not work/, log)
      assert_equal [500, 500], %w[call code].map { |action| post(order("RefusedChannel", action)).status }
      assert_match(/`stream_from` with the coder Marshal does not work/, log)
    end

    def test_code_that_is_loaded_lazily_is_refused_when_it_is_used
      channel("periodically(every: 0.01) { 1 }")
      response = post("command" => "subscribe", "connection" => connected, "identifier" => identifier("RefusedChannel"))

      assert_equal 500, response.status
      assert_match(/RefusedChannel, chat.rb:1: `periodically`/, log)
    end

    private

    def refusals
      Cable::Refusals
    end

    def refusal(channel)
      assert_raises(Cable::Error) { refusals.check_channel(channel) }.message
    end

    def channel(code)
      Object.send(:remove_const, :RefusedChannel) if Object.const_defined?(:RefusedChannel)
      Object.const_set(:RefusedChannel, Class.new(ActionCable::Channel::Base))
      RefusedChannel.class_eval(code, "chat.rb", 1)
      RefusedChannel
    end
  end
end
