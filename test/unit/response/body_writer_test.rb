# frozen_string_literal: true

require "test_helper"

class BodyWriterTest < Support::NativeTest
  LARGE = "0123456789abcdef" * 8192 # 128 KiB

  def test_short_body_of_declared_length_is_sent_as_a_whole
    buffer = +""
    body = recorded { |write| %w[one two].each { |text| write.call(buffer.replace(text)) } }
    assert_equal "onetwo", serve(->(_env) { [200, { "Content-Length" => "6" }, body] }).call.body
    assert_equal 1, body.closed_count
  end

  def test_body_that_is_longer_than_declared_is_streamed
    body = recorded { |write| %w[one two three].each { |text| write.call(text) } }
    lane = serve(->(_env) { [200, { "content-length" => "6" }, body] })
    assert_equal :stream, lane.call.body
    assert_equal ["onetwothree", :end], lane.stream
  end

  def test_large_pieces_are_split_and_wait_for_the_window
    lane = serve(->(_env) { [200, {}, recorded { |write| write.call(LARGE * 4) }] })
    id = lane.request
    assert_equal :stream, lane.response.body
    pieces = Array.new(4) { lane.expect(:chunk).byteslice(4..) }
    assert_equal [65_536] * 4, pieces.map(&:bytesize)
    assert lane.silent?(0.05)
    lane.send_bytes(Support::Wire.window(id, 100))
    assert_equal 100, lane.expect(:chunk).bytesize - 4
    lane.send_bytes(Support::Wire.window(id, 1 << 20))
    rest, last = lane.stream
    assert_equal [(LARGE.bytesize * 4) - 262_144 - 100, :end], [rest.bytesize, last]
  end

  def test_requests_during_a_waiting_body_are_served_after_it_in_order
    large = recorded { |write| write.call(LARGE * 4) }
    lane = serve(->(env) { [200, {}, env["PATH_INFO"] == "/" ? large : [env["PATH_INFO"]]] })
    lane.request
    lane.response
    %w[/a /b].each { |path| lane.request(path: path) }
    lane.send_bytes(Support::Wire.window(1, 1 << 20))
    lane.request(path: "/c")
    assert_equal :end, lane.stream.last
    assert_equal %w[/a /b /c], Array.new(3) { lane.response.body }
  end

  def test_edge_that_is_gone_ends_the_iteration
    body = recorded { |write| loop { write.call(LARGE) } }
    lane = serve(->(_env) { [200, {}, body] })
    lane.request
    lane.response
    lane.disconnect
    lane.join
    assert_equal 1, body.closed_count
  end

  private

  def recorded(&each)
    Support::RecordedBody.new(&each)
  end
end
