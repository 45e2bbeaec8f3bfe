# frozen_string_literal: true

require "json"
require "test_helper"

# Coded bodies that the application never sees.
class HttpDecodeRefusalsTest < Support::Refusals
  TEXT = (1..2000).map { |n| "#{n * n}\n" }.join.freeze

  serves Support::Probe::APP, args: %w[--decode-requests]

  def self.encode(...)
    Support::ContentCodings.encode(...)
  end

  def self.post(coding, body)
    lines = Array(coding).map { |value| "Content-Encoding: #{value}\r\n" }
    "POST /echo HTTP/1.1\r\nHost: a\r\n#{lines.join}Content-Length: #{body.bytesize}\r\n\r\n".b + body
  end

  Support::ContentCodings::NAMES.each do |coding|
    coded = encode(TEXT, coding)
    refuses "a_truncated_#{coding}_body", post(coding, coded.byteslice(0, coded.bytesize / 2))
    refuses "garbage_behind_a_#{coding}_body", post(coding, "#{coded}garbage")
    refuses "a_body_in_#{coding}_truncated_within_gzip",
            post("#{coding}, gzip", encode(coded.byteslice(0, coded.bytesize / 2), "gzip"))
  end

  ["rot13", "gzip, rot13", %w[gzip gzip gzip]].each do |coding|
    refuses "a_body_in_#{Array(coding).join("_and_").gsub(/\W+/, "_")}", post(coding, encode(TEXT, "gzip")), status: 415
  end

  refuses "a_zstd_window_of_16_mebibytes",
          post("zstd", Support::ContentCodings.pipe(TEXT, "zstd", "-c", "--long=24")), status: 415

  def test_415_says_what_is_decoded
    response = connect.write(self.class.post("rot13", "uryyb")).read_response

    assert_equal [415, "gzip, deflate, br, zstd"], [response.status, response["accept-encoding"]]
  end

  def test_an_unknown_coding_is_refused_before_the_body_is_asked_for
    client = connect.write("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Encoding: rot13\r\n" \
                           "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n")

    assert_equal 415, client.read_response.status
    assert_closed client
  end

  def test_a_truncated_body_in_chunks_is_refused
    coded = self.class.encode(TEXT, "gzip").byteslice(0...-9)
    fields = { "Content-Encoding" => "gzip", "Transfer-Encoding" => "chunked" }
    client = connect.request("POST", "/echo", fields: fields)
    client.write("#{coded.bytesize.to_s(16)}\r\n#{coded}\r\n0\r\n\r\n")

    assert_equal 400, client.read_response.status
  end

  def test_without_the_option_any_coding_reaches_the_application_as_it_is
    server = serve(Support::Probe::APP)
    seen = JSON.parse(server.request("POST", "/env", fields: { "Content-Encoding" => "Rot13" }, body: "uryyb").body)

    assert_equal %w[Rot13 5], seen.values_at("HTTP_CONTENT_ENCODING", "CONTENT_LENGTH")
    coded = self.class.encode(TEXT, "gzip")
    assert_equal coded, server.request("POST", "/echo", fields: { "Content-Encoding" => "gzip" }, body: coded).body
  end
end
