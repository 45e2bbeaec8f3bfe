# frozen_string_literal: true

require "test_helper"

class DeliveryTest < Support::NativeTest
  LARGE = "0123456789abcdef" * 8192 # 128 KiB

  def test_error_in_close_changes_nothing_for_the_client
    body = recorded { |write| write.call("x") }
    def body.close = raise("cannot close")
    lane = serve(->(_env) { [200, { "content-length" => "1" }, body] })
    assert_equal "x", lane.call.body
    lane.finish
    assert_includes lane.errors.string, "cannot close"
  end

  def test_body_with_to_ary_travels_in_one_frame_and_is_closed_once
    { true => 0, false => 1 }.each do |closes_itself, count|
      body = listed(closes_itself)
      lane = serve(->(_env) { [200, {}, body] })
      assert_equal "onetwo", lane.call.body
      lane.finish
      assert_equal count, body.closed_count
    end
  end

  def test_to_ary_is_not_asked_of_a_body_of_declared_length
    body = recorded { |write| %w[one two].each(&write) }
    def body.to_ary = raise("not a list")
    def body.closed? = false
    assert_equal "onetwo", serve(->(_env) { [200, { "content-length" => "6" }, body] }).call.body
  end

  def test_one_large_piece_of_the_declared_length_travels_in_a_file
    body = recorded { |write| write.call(LARGE) }
    lane = serve(->(_env) { [200, { "content-length" => LARGE.bytesize.to_s }, body] })
    assert_equal({ offset: 0, length: LARGE.bytesize, ranges: 0 }, lane.call.body)
    lane.finish
    assert_equal [LARGE, 1], [lane.descriptors.first.pread(LARGE.bytesize, 0), body.closed_count]
  end

  def test_large_arrays_and_strings_travel_in_an_unlinked_file
    [[LARGE], [LARGE, "\xFF", LARGE]].each do |body|
      lane = serve(->(_env) { [200, {}, body] })
      response = lane.call
      assert_equal({ offset: 0, length: body.sum(&:bytesize), ranges: 0 }, response.body)
      file = lane.descriptors.first
      assert file.pread(response.body[:length], 0) == body.map(&:b).join
      assert_equal 0, file.stat.nlink
    end
  end

  def test_full_disk_is_an_internal_server_error
    lane = serve(->(_env) { [200, {}, [LARGE]] }, spool_dir: "/dev/null/nowhere")
    assert_equal 500, lane.call.status
  end

  def test_file_is_passed_open_and_not_read
    body = recorded { flunk "iterated" }
    def body.to_path = __FILE__
    lane = serve(->(_env) { [200, {}, body] })
    assert_equal({ offset: 0, length: File.size(__FILE__), ranges: 1 }, lane.call.body)
    lane.finish
    assert_equal File.size(__FILE__), lane.descriptors.first.stat.size
    assert_equal 1, body.closed_count
  end

  def test_headers_and_status_of_other_shapes_are_converted
    headers = Object.new
    def headers.each(&block)
      yield "A", 1
      [[:b, %w[x y]], ["rack.x", 1], ["c", nil]].each(&block)
    end
    [[], recorded { nil }].each do |body|
      response = serve(->(_env) { ["201", headers, body] }).call
      assert_equal [201, [%w[a 1], %w[b x], %w[b y], ["c", ""]]], response.to_a.values_at(1, 3)
    end
  end

  def test_pieces_other_than_strings_are_an_error
    lane = serve(->(_env) { [200, {}, recorded { |write| write.call(1) }] })
    assert_equal 500, lane.call.status
  end

  private

  # A body as Rack::BodyProxy makes them: `to_ary` closes it in Rack 3, and does not in Rack 2.
  def listed(closes_itself)
    recorded { flunk "iterated" }.tap do |body|
      body.define_singleton_method(:to_ary) { %w[one two] }
      body.define_singleton_method(:closed?) { closes_itself }
    end
  end

  def recorded(&each)
    Support::RecordedBody.new(&each)
  end
end
