# frozen_string_literal: true

require "socket"
require "tmpdir"
require "test_helper"

class LaneTest < Support::NativeTest
  OK = ->(_env) { [200, {}, ["ok"]] }
  SORRY = [500, "Internal Server Error\n"].freeze

  def test_requests_are_answered_in_their_order
    lane = serve(->(env) { [200, {}, [env["PATH_INFO"]]] })
    ids = Array.new(5) { |number| lane.request(path: "/#{number}") }
    responses = Array.new(5) { lane.response }
    assert_equal [ids, %w[/0 /1 /2 /3 /4]], [responses.map(&:id), responses.map(&:body)]
  end

  def test_the_sockets_of_a_lane_are_taken_over
    ios = [UNIXSocket.pair.first, File.open(Dir.tmpdir, File::RDWR | File::TMPFILE)]
    options = Carat.const_get(:Request)::EnvTemplate.new(release: "3.0.0", capacity: 1, several: false,
                                                         spool_dir: Dir.tmpdir, errors: $stderr).to_h
    assert_raises(TypeError) { Carat::Native::Lane.new(*ios.map(&:fileno), options) }
    Carat::Native::Lane.new(*ios, options)
    assert(ios.all?(&:closed?))
    assert_raises(IOError) { Carat::Native::Lane.new(*ios, options) }
  end

  def test_what_the_application_raises_is_answered_and_reported_in_one_block
    lane = serve(->(_env) { raise ArgumentError, "no such thing" })
    assert_equal SORRY, lane.call(method: "POST", path: "/x").to_a.values_at(1, 4)
    assert_match(%r{\APOST /x: .*lane_test.rb:\d+:in .*no such thing \(ArgumentError\)$}, lane.errors.string)
    assert_match(/^\s+from /, lane.errors.string)
  end

  def test_errors_that_are_no_standard_errors_are_the_application_s_too
    lane = serve(->(env) { env["PATH_INFO"] == "/deep" ? LaneTest.deep : raise(NotImplementedError, "not yet") })
    %w[/ /deep].each { |path| assert_equal SORRY, lane.call(path: path).to_a.values_at(1, 4) }
    assert_equal 0, lane.fatal
  end

  def test_the_application_cannot_throw_through_threads_of_carat
    assert_equal SORRY, serve(->(_env) { throw :async }).call.to_a.values_at(1, 4)
  end

  def test_what_is_no_response_is_reported_in_one_line
    {
      [nil, {}, []] => "the status is not from 200 to 599", ["abc", {}, []] => "the status is not from 200 to 599",
      [:ok, {}, []] => "the status is Symbol, without to_i", [200, nil, []] => "the headers are NilClass, without each",
      [200, {}, nil] => "the body is nil; a response is [status, headers, body], and an empty body is []",
      [200, {}, ["a", 1]] => "the body contains Integer",
      [200, {}, ["a", nil]] => "the body contains NilClass",
      nil => "the body is nil; a response is [status, headers, body], and an empty body is []"
    }.each do |response, reason|
      lane = serve(->(_env) { response })
      assert_equal SORRY, lane.call.to_a.values_at(1, 4), response.inspect
      assert_equal "GET /: #{reason}\n", lane.errors.string
    end
  end

  def test_it_ends_with_a_goodbye_when_it_is_drained_while_idle
    lane = serve(OK)
    lane.call
    lane.finish
    assert_equal [[:bye, ""], [nil, nil]], [lane.frame, lane.frame]
  end

  def test_what_has_arrived_is_answered_before_it_ends
    gate = Queue.new
    lane = serve(->(env) { [200, {}, [env["PATH_INFO"], gate.pop]] })
    %w[/a /b].each { |path| lane.request(path: path) }
    lane.send_bytes(Support::Wire.frame(:drain))
    2.times { gate << "!" }
    assert_equal %w[/a! /b!], [lane.response.body, lane.response.body]
    assert_equal [:bye, ""], lane.frame
    lane.join
  end

  def test_draining_a_busy_lane_waits_for_its_answer
    gate = Queue.new
    lane = serve(->(_env) { [200, {}, [gate.pop]] })
    lane.request
    Support::Eventually.eventually { gate.num_waiting == 1 }
    lane.native.drain
    gate << "done"
    assert_equal ["done", [:bye, ""]], [lane.response.body, lane.frame]
    lane.join
  end

  def test_it_ends_when_the_edge_is_gone
    lane = serve(OK)
    lane.disconnect
    lane.join
  end

  def test_it_ends_when_the_edge_goes_in_the_middle_of_a_request
    gate = Queue.new
    lane = serve(->(_env) { [200, {}, [gate.pop]] })
    lane.request
    Support::Eventually.eventually { gate.num_waiting == 1 }
    lane.disconnect
    gate << "nobody hears this"
    lane.join
  end

  def test_an_edge_that_does_not_read_makes_the_lane_wait
    lane = serve(->(_env) { [200, {}, ["x" * 60_000]] })
    100.times { lane.request }
    assert_equal 6_000_000, Array.new(100) { lane.response.body.bytesize }.sum
  end

  def test_an_answer_does_not_wait_behind_a_slow_request
    gate = Queue.new
    paths = { "/quick" => -> { "quick" }, "/slow" => -> { LaneTest.take_a_millisecond }, "/gate" => -> { gate.pop } }
    lane = serve(->(env) { [200, {}, [paths.fetch(env["PATH_INFO"]).call]] })
    lane.call(path: "/slow")
    %w[/quick /gate].each { |path| lane.request(path: path) }
    assert_equal "quick", lane.response.body
    gate << "let go"
    assert_equal "let go", lane.response.body
  end

  def self.take_a_millisecond
    done = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.001
    nil until Process.clock_gettime(Process::CLOCK_MONOTONIC) > done
    "slow"
  end

  def self.deep
    deep
  end
end
