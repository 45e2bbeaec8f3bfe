# frozen_string_literal: true

require "test_helper"

# Clients that leave before they are done, in order (FIN) or with a reset (RST).
class HttpDisconnectTest < Support::SharedServerTest
  LARGE = "x" * 250_000
  HALF_BODIES = ["Content-Length: 500000\r\n\r\n#{LARGE}", "Content-Length: 5\r\n\r\nx",
                 "Transfer-Encoding: chunked\r\n\r\n3D090\r\n#{LARGE}", "Transfer-Encoding: chunked\r\n\r\n5\r\nhe",
                 "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
                 "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"]
                .map { |rest| "POST /half HTTP/1.1\r\nHost: a\r\n#{rest}" }.freeze
  HALF_HEADS = ["G", "GET /half HTTP/1.1\r\nHost: a", "GET /half HTTP/1.1\r\nHost: a\r\n\r"].freeze

  serves Support::Probe::APP, args: %w[--access-log]

  %i[close reset close_write].each do |leave|
    define_method("test_half_a_request_before_a_#{leave}_is_dropped_and_nothing_of_it_stays") do
      before = descriptors
      [*HALF_HEADS, *HALF_BODIES].each { |half| connect.write(half).public_send(leave) }

      assert_equal "/next", server.get("/next").body
      eventually { assert_operator descriptors, :<=, before }
      refute_includes log, "app saw POST"
    end
  end

  def test_a_client_that_ends_its_half_of_the_connection_gets_what_it_has_asked_for_before
    client = connect
    client.request("POST", "/echo", body: "hello")

    assert_equal "hello", client.read_response.body
    assert_equal "", client.close_write.read_to_end
  end

  %i[close reset].each do |leave|
    define_method("test_a_client_that_waits_and_leaves_with_a_#{leave}_does_not_stop_the_next") do
      waiting = connect.write("GET /sleep?0.2 HTTP/1.1\r\nHost: a\r\n\r\n")
      eventually { log.include?("app saw GET /sleep") }
      waiting.public_send(leave)

      assert_equal "/next", server.get("/next").body
    end

    define_method("test_a_client_that_leaves_the_queue_with_a_#{leave}_is_not_served") do
      first = connect.write("GET /doze HTTP/1.1\r\nHost: a\r\n\r\n")
      eventually { log.include?("app dozes") }
      connect.write("GET /queued HTTP/1.1\r\nHost: a\r\n\r\n").public_send(leave)
      eventually { assert_includes log, "GET /queued HTTP/1.1\" 499" }

      assert_equal "dozed", first.read_response.body
      assert_equal "/next", server.get("/next").body
      refute_includes log, Support::Probe.line("GET", "/queued")
    end

    define_method("test_a_large_answer_that_nobody_reads_any_more_after_a_#{leave}_is_given_back") do
      before = descriptors
      client = connect.write("GET /large?40000000 HTTP/1.1\r\nHost: a\r\n\r\n")
      client.read_exactly(100)
      client.public_send(leave)

      eventually { assert_operator descriptors, :<=, before }
      assert_equal "/next", server.get("/next").body
    end
  end
end
