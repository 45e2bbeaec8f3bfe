# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/server_event"

class BenchServerEventTest < Minitest::Test
  def test_lines_that_the_log_did_not_write_are_left_out
    events = Bench::ServerEvent.parse(<<~LOG)
      Sinatra says hello
      {"time":"2026-11-21T10:00:00.250Z","level":"info","message":"worker ready","gen":2,"boot_ms":16}
      {"no": "event"}
      {"broken"}
      {"time":"2026-11-21T10:00:01.000Z","lev
    LOG

    assert_equal ["worker ready"], events.map(&:message)
    assert_in_delta 0.25, events.first.at % 1
    assert_equal 2, events.first["gen"]
  end
end
