# frozen_string_literal: true

require "test_helper"

module Carat
  class Rack2StreamInputTest < Support::NativeTest
    def test_rack_2_gets_one_and_rack_3_does_not
      assert_equal [Request::Rack2StreamInput, StreamInput],
                   (%w[2.2.6 3.0.0].map { |release| open(release)["rack.input"].class })
    end

    def test_it_can_be_rewound_as_long_as_nothing_was_read
      input = input_of("abc")
      assert_equal [0, "abc"], [input.rewind, input.read]
    end

    # Rack's parsers rewind at their end, and nobody reads after them.
    def test_it_can_be_rewound_afterwards_but_not_read_again
      input = input_of("abc")
      input.read(1)
      assert_equal 0, input.rewind
      [%i[read], [:read, 1], %i[gets], [:readpartial, 1]].each do |way|
        assert_raises(Errno::ESPIPE) { input.public_send(*way) }
      end
    end

    private

    def open(release)
      @lane = harness(release: release)
      @lane.request(method: "POST", body: { stream: nil })
      @lane.slot.take
    end

    def input_of(body)
      input = open("2.2.6")["rack.input"]
      waiting = Thread.new { input.eof? }
      @lane.expect(:window)
      @lane.send_bytes(Support::Wire.chunk(1, body) + Support::Wire.end(1))
      waiting.join
      input
    end
  end
end
