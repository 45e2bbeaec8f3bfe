# frozen_string_literal: true

require "test_helper"

module Native
  class InputTest < Support::NativeTest
    BYTES = (0..255).map(&:chr).join.b.freeze

    def test_a_request_without_a_body_has_an_empty_input_and_no_length
      env = env_of
      assert_equal ["", nil], [env["rack.input"].read, env["CONTENT_LENGTH"]]
    end

    def test_a_body_in_the_frame_is_a_binary_string_io
      env = env_of(method: "POST", body: BYTES)
      input = env["rack.input"]
      assert_kind_of StringIO, input
      assert_equal [Encoding::BINARY, BYTES, "256"], [input.external_encoding, input.read, env["CONTENT_LENGTH"]]
    end

    def test_a_body_in_a_file_is_a_binary_file_at_its_beginning
      env = with_file(BYTES) { |file| env_of_file(file) }
      input = env["rack.input"]
      assert_kind_of File, input
      assert_predicate input, :binmode?
      assert_equal [Encoding::BINARY, "256"], [input.external_encoding, env["CONTENT_LENGTH"]]
      assert_equal BYTES, input.read
      input.rewind
      assert_equal BYTES[0, 10], input.read(10)
    end

    def test_the_buffer_of_a_read_becomes_binary
      inputs.each do |input|
        [Encoding::UTF_8, Encoding::BINARY, Encoding::UTF_16LE].each do |encoding|
          buffer = (+"was here").force_encoding(encoding)
          input.rewind
          assert_same buffer, input.read(200, buffer)
          assert_equal [Encoding::BINARY, BYTES[0, 200]], [buffer.encoding, buffer]
        end
      end
    end

    def test_inputs_do_what_rack_asks_of_them
      inputs.each do |input|
        assert_equal [BYTES, "", nil, nil, ""],
                     [input.read, input.read, input.read(1), input.gets, input.read(nil, +"x")]
        input.rewind
        assert_equal BYTES, input.each.to_a.join
        assert_equal 0, input.rewind
        assert_equal BYTES[0, 11], input.gets
      end
    end

    def test_the_file_is_closed_when_the_next_request_is_taken
      lane = harness
      with_file("x") { |file| lane.request(file: file) }
      input = lane.slot.take["rack.input"]
      lane.slot.respond(200, {}, [])
      refute_predicate input, :closed?
      lane.request
      lane.slot.take
      assert_predicate input, :closed?
    end

    def test_an_application_may_close_its_input
      lane = harness
      with_file("x") { |file| lane.request(file: file) }
      lane.slot.take["rack.input"].close
      lane.slot.respond(200, {}, [])
      lane.request
      assert_equal "GET", lane.slot.take["REQUEST_METHOD"]
    end

    private

    def inputs
      [env_of(method: "POST", body: BYTES), with_file(BYTES) { |file| env_of_file(file) }]
        .map { |env| env["rack.input"] }
    end

    def env_of_file(file)
      lane = harness
      lane.request(file: file, method: "POST")
      lane.slot.take
    end
  end
end
