# frozen_string_literal: true

require "json"
require "rack"
require "test_helper"

# What becomes of a request's target and headers on their way to the application.
class HttpHeadersTest < Support::SharedServerTest
  serves Support::Probe::APP

  def test_space_around_a_value_is_dropped_and_space_inside_is_kept
    assert_equal "a \t b", env("X-Odd" => " \t a \t b \t ")["HTTP_X_ODD"]
    assert_equal "", env("X-Odd" => "")["HTTP_X_ODD"]
  end

  def test_bytes_that_are_no_ascii_arrive_as_they_are
    seen = JSON.parse(server.get("/env", fields: { "X-Odd" => "\u00fc" }).body.force_encoding("UTF-8"))

    assert_equal "\u00fc", seen["HTTP_X_ODD"]
  end

  def test_headers_of_the_connection_are_no_secret
    seen = env("Connection" => "close, x-odd", "TE" => "trailers")

    assert_equal ["close, x-odd", "trailers"], seen.values_at("HTTP_CONNECTION", "HTTP_TE")
  end

  def test_the_target_is_split_and_not_decoded
    assert_equal ["/env", "a=%20&b=?/#{"x" * 100}"],
                 env({}, "/env?a=%20&b=?/#{"x" * 100}").values_at("PATH_INFO", "QUERY_STRING")
    assert_equal "/a%2Fb//../c;d", server.get("/a%2Fb//../c;d").body
  end

  def test_a_method_that_nobody_knows_is_the_applications_business
    server.request("BREW", "/pot")

    assert_includes log, Support::Probe.line("BREW", "/pot")
  end

  private

  def env(fields, target = "/env")
    JSON.parse(server.get(target, fields: fields).body)
  end
end
