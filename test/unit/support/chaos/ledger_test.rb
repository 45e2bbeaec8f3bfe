# frozen_string_literal: true

require "minitest/autorun"
require "support/eventually"
require "support/chaos/ledger"
require "support/chaos/outcome"

class ChaosLedgerTest < Minitest::Test
  DIGEST = "d1"
  RAN = "begun POST /a -\nfinished POST /a d1\n"
  BEGUN = "begun POST /a -\n"

  def test_what_was_served_ran_once_with_its_body
    assert_agrees RAN, post(200)
    assert_contradicts(/begun 2 times/, RAN + RAN, post(200))
    assert_contradicts(/never finished/, "", post(200))
    assert_contradicts(/never finished/, BEGUN, post(200))
    assert_contradicts(/another body/, RAN.sub(DIGEST, "d2"), post(200))
    assert_contradicts(/another body/, RAN, post(200).tap { |outcome| outcome.body = "d2" })
  end

  def test_what_was_refused_before_it_began_never_ran
    [503, 507].each do |status|
      assert_agrees "", post(status)
      assert_contradicts(/begun, although/, BEGUN, post(status))
    end
  end

  def test_what_was_lost_ran_once_at_most
    [500, 502, 504].each do |status|
      ["", BEGUN, RAN].each { |text| assert_agrees text, post(status) }
      assert_contradicts(/begun 2 times/, BEGUN + BEGUN, post(status))
    end
  end

  def test_a_get_may_run_once_more
    outcome = post(200).tap { |get| get.verb = "GET" }
    text = RAN.gsub("POST", "GET")

    assert_agrees text + text, outcome
    assert_contradicts(/begun 3 times/, text * 3, outcome)
  end

  def test_each_request_is_answered_unless_its_client_has_left_or_the_server_stops
    assert_contradicts(/vanished/, "", post(nil))
    assert_contradicts(/unexpected status/, "", post(400))
    assert_agrees RAN, post(nil, left: true)
    assert_contradicts(/begun 2 times/, RAN + RAN, post(nil, left: true))
    assert_agrees "", post(nil, stopping: true)
    assert_contradicts(/begun, although/, BEGUN, post(nil, stopping: true))
  end

  def test_nothing_runs_that_nobody_has_sent
    assert_contradicts(/nobody had sent it/, RAN)
  end

  private

  def post(status, **changes)
    body = DIGEST if status == 200
    Support::Chaos::Outcome.new(verb: "POST", path: "/a", digest: DIGEST, left: false, stopping: false, status: status,
                                body: body, **changes)
  end

  def assert_agrees(text, *outcomes)
    assert_empty Support::Chaos::Ledger.new(text).contradictions(outcomes)
  end

  def assert_contradicts(pattern, text, *outcomes)
    assert_match pattern, Support::Chaos::Ledger.new(text).contradictions(outcomes).join
  end
end
