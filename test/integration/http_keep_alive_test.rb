# frozen_string_literal: true

require "test_helper"

class HttpKeepAliveTest < Support::SharedServerTest
  serves Support::Probe::APP

  def test_close_is_found_in_any_case_in_a_list_and_in_what_is_no_list
    ["close", "x-odd, CLOSE", "close;", '"close"', "Close; x"].each do |value|
      client = connect
      response = client.get("/", fields: { "Connection" => value })

      assert_equal [200, "close"], [response.status, response["connection"]]
      assert_closed client
    end
  end

  def test_a_request_behind_one_that_closes_is_not_answered
    client = connect.write("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n")

    assert_equal "/a", client.read_response.body
    assert_closed client
    refute_includes log, "/b"
  end

  def test_http_1_0_stays_open_when_the_client_asks_for_it
    client = connect
    2.times do |nth|
      client.write("GET /#{nth} HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
      response = client.read_response

      assert_equal ["/#{nth}", "keep-alive"], [response.body, response["connection"]]
    end
    client.write("GET /last HTTP/1.0\r\n\r\n")

    assert_equal "/last", client.read_response.body
    assert_closed client
  end

  # CVE-2019-16770: kept connections occupied the threads.
  def test_more_kept_connections_than_threads_do_not_keep_others_waiting
    kept = Array.new(50) { connect.tap { |client| assert_nil client.get["connection"] } }

    assert_equal "/other", server.get("/other").body
    assert_equal 50, kept.count { |client| client.get.status == 200 }
  end
end
