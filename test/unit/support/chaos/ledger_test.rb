# frozen_string_literal: true

require "minitest/autorun"
require "support/eventually"
require "support/chaos/ledger"
require "support/chaos/outcome"

class ChaosLedgerTest < Minitest::Test
  DIGEST = "d1"
  RAN = "begun POST /a -\nfinished POST /a d1\n"
  BEGUN = "begun POST /a -\n"

  # What the ledger says, what the client says, and the contradiction, or nil.
  ROWS = [
    [RAN, 200, nil], [RAN + RAN, 200, /begun 2 times/], ["", 200, /never finished/], [BEGUN, 200, /never finished/],
    [RAN.sub(DIGEST, "d2"), 200, /another body/], [RAN, 200, /another body/, { body: "d2" }],
    ["", 503, nil], ["", 507, nil], [BEGUN, 503, /begun, although/], [BEGUN, 507, /begun, although/],
    *[500, 502, 504].product(["", BEGUN, RAN]).map { |status, text| [text, status, nil] },
    [BEGUN + BEGUN, 502, /begun 2 times/], [(RAN + RAN).gsub("POST", "GET"), 200, nil, { verb: "GET" }],
    [(RAN * 3).gsub("POST", "GET"), 200, /begun 3 times/, { verb: "GET" }],
    ["", nil, /vanished/], ["", 400, /unexpected status/], [RAN, nil, nil, { left: true }],
    [RAN + RAN, nil, /begun 2 times/, { left: true }], ["", nil, nil, { stopping: true }],
    [BEGUN, nil, /begun, although/, { stopping: true }]
  ].freeze

  def test_what_the_client_and_the_application_say_is_compared
    ROWS.each do |text, status, contradiction, changes|
      found = contradictions(text, outcome(status, **changes.to_h))
      contradiction ? assert_match(contradiction, found.join) : assert_empty(found)
    end
  end

  def test_nothing_runs_that_nobody_has_sent
    assert_match(/nobody had sent it/, contradictions(RAN).join)
  end

  private

  def outcome(status, **changes)
    body = DIGEST if status == 200
    Support::Chaos::Outcome.new(verb: "POST", path: "/a", digest: DIGEST, left: false, stopping: false, status: status,
                                body: body, **changes)
  end

  def contradictions(text, *outcomes)
    Support::Chaos::Ledger.new(text).contradictions(outcomes)
  end
end
