# frozen_string_literal: true

require "test_helper"
require "support/differential/outcome"

class DifferentialOutcomeTest < Minitest::Test
  Outcome = Support::Differential::Outcome
  FIRST = %w[POST /first 5:x].freeze
  OTHER = %w[POST /first 6:y].freeze
  LAST = %w[GET /last 0:z].freeze
  SERVED = "HTTP/1.1 299 <none>\r\ncontent-length: 0\r\n\r\n"
  CLOSED = "HTTP/1.1 299 <none>\r\nConnection: close\r\n\r\n"
  REFUSED = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n"
  LATE = "HTTP/1.1 408 Request Timeout\r\n\r\n"

  def test_same_requests_do_not_differ
    assert_nil difference(Outcome.new([FIRST, LAST], SERVED + CLOSED), Outcome.new([FIRST, LAST], SERVED + CLOSED))
  end

  def test_another_body_is_a_difference
    assert_equal "the requests differ", difference(Outcome.new([FIRST], SERVED), Outcome.new([OTHER], SERVED))
  end

  def test_refused_rest_is_no_difference
    assert_nil difference(Outcome.new([FIRST], SERVED + REFUSED), Outcome.new([FIRST, LAST], SERVED + CLOSED))
  end

  def test_rest_behind_connection_close_is_no_difference
    assert_nil difference(Outcome.new([FIRST], CLOSED), Outcome.new([FIRST, LAST], SERVED + CLOSED))
  end

  def test_waiting_where_the_other_sees_a_request_is_a_difference
    [LATE, SERVED, ""].each do |received|
      waiting = Outcome.new([], received)

      assert_equal "one waits where the other sees a request", difference(waiting, Outcome.new([FIRST], SERVED))
    end
  end

  def test_only_what_is_served_to_its_end_is_complete
    assert_predicate Outcome.new([FIRST, LAST], "HTTP/1.1 100 Continue\r\n\r\n" + SERVED + CLOSED), :complete?
    refute_predicate Outcome.new([FIRST, LAST], SERVED + REFUSED), :complete?
    refute_predicate Outcome.new([FIRST], SERVED), :complete?
  end

  private

  # The order of the two does not matter.
  def difference(one, two)
    one.difference(two).tap { |why| assert_equal why.inspect, two.difference(one).inspect }
  end
end
