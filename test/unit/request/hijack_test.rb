# frozen_string_literal: true

require "test_helper"

class RequestHijackTest < Support::NativeTest
  def test_the_far_end_travels_before_the_response_which_is_ignored
    lane = serve(lambda do |env|
      env["rack.hijack"].call.write("raw")
      [500, { "x" => "y" }, ["ignored"]]
    end)
    id = lane.request
    assert_equal id, lane.expect(:tunnel).unpack1("L<")
    assert_equal [id].pack("L<"), lane.expect(:end)

    assert_equal "raw", socket(lane).readpartial(10)
    lane.request
    assert_equal 2, lane.expect(:tunnel).unpack1("L<")
  end

  def test_a_second_call_returns_the_same_socket
    seen = nil
    lane = serve(->(env) { [200, {}, (seen = Array.new(2) { env["rack.hijack"].call } << env["rack.hijack_io"])] })
    lane.request
    lane.expect(:end) if lane.expect(:tunnel)

    assert_equal [true, true], seen.each_cons(2).map { |one, other| one.equal?(other) }
  end

  def test_a_body_that_still_arrives_and_other_requests_on_the_connection_rule_it_out
    seen = nil
    lane = serve(->(env) { [200, {}, [(seen = env.slice("rack.hijack?", "rack.hijack")).size.to_s]] })
    [{ body: { stream: 9 } }, { version: 20 }].each do |request|
      lane.call(**request)
      assert_equal({ "rack.hijack?" => false }, seen)
    end
  end

  def test_a_protocol_is_named_by_status_101_or_by_its_name
    headers = { "upgrade" => "echo", "connection" => "upgrade" }
    { [101, headers] => headers, [200, { "rack.protocol" => "echo" }] => headers,
      [101, { "rack.protocol" => "echo" }] => headers }.each do |(status, given), sent|
      response = serve(->(_env) { [status, given, :close.to_proc] }).call
      assert_equal [101, sent.to_a, :tunnel], response.to_a.values_at(1, 3, 4)
    end
  end

  def test_nothing_else_goes_with_status_101
    lane = serve(->(_env) { [101, {}, ["a body"]] })

    assert_equal 500, lane.call.status
    assert_includes lane.errors.string, "Array cannot be called"
  end

  def test_the_protocols_of_the_client_are_a_list_since_rack_3_1
    { "3.0.8" => nil, "3.1.0" => %w[websocket h2c/1] }.each do |release, expected|
      seen = :nothing
      lane = harness(->(env) { [200, {}, [(seen = env["rack.protocol"]).to_s]] }, release: release).start
      lane.call(headers: { "upgrade" => "websocket ,h2c/1" })
      expected ? assert_equal(expected, seen) : assert_nil(seen)
      lane.call
      assert_nil seen
    end
  end

  private

  # The far end that has travelled last.
  def socket(lane)
    lane.descriptors.last
  end
end
