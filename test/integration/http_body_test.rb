# frozen_string_literal: true

require "digest"
require "json"
require "test_helper"

class HttpBodyTest < Support::SharedServerTest
  CHUNKED = { "Transfer-Encoding" => "chunked" }.freeze
  # Puma 6.1 counted characters where it should have counted bytes (its issue 3145).
  BODIES = { ascii: "GET / HTTP/1.1\r\n\r\n", utf8: "na\u00efve \u65e5\u672c\u8a9e \u{1f48e}",
             binary: "\0\r\n\xff\xc3\x28\x80\r\n\0", random: Random.new(2).bytes(5000) }.transform_values(&:b).freeze
  LARGE = Random.new(1).bytes(20 * 1024 * 1024).freeze
  LARGE_DIGEST = "#{LARGE.bytesize} #{Digest::SHA256.hexdigest(LARGE)}".freeze

  serves Support::Probe::APP, args: %w[--inline-body-limit 64KB]

  BODIES.each do |name, body|
    define_method("test_a_#{name}_body_arrives_byte_for_byte_in_either_framing") do
      client = connect

      assert_equal body, client.request("POST", "/echo", body: body).read_response.body
      assert_equal body, client.request("POST", "/echo", fields: CHUNKED, body: chunks(body, 7)).read_response.body
    end
  end

  def test_20_megabytes_by_length_arrive_whole
    assert_equal LARGE_DIGEST, connect.request("POST", "/digest", body: LARGE).read_response.body
  end

  def test_20_megabytes_in_chunks_arrive_whole
    assert_equal LARGE_DIGEST,
                 connect.request("POST", "/digest", fields: CHUNKED, body: chunks(LARGE, 30_011)).read_response.body
  end

  # Puma lost or added bytes where a chunk ended at the edge of a read (its issues 2325, 1492 and 3337).
  def test_chunks_that_end_at_the_edge_of_a_read_arrive_whole
    client = connect
    [4096, 8192, 16_384, 65_536].product([*-9..2]).each do |edge, more|
      body = LARGE.byteslice(0, edge)
      client.request("POST", "/echo", fields: CHUNKED).write(chunks(body, edge + more))

      assert_equal body, client.read_response.body, "chunks of #{edge + more} bytes"
    end
  end

  def test_the_length_of_a_chunked_body_is_told_and_its_coding_is_not
    seen = JSON.parse(connect.request("POST", "/env", fields: CHUNKED, body: chunks("hello")).read_response.body)

    assert_equal "5", seen["CONTENT_LENGTH"]
    refute seen.key?("HTTP_TRANSFER_ENCODING")
  end

  def test_trailers_are_dropped
    trailers = "Host: evil\r\nX-Forwarded-For: evil\r\nContent-Length: 99\r\nX-Odd: evil\r\n"
    client = connect
    client.request("POST", "/env", fields: CHUNKED.merge("Trailer" => "X-Odd"), body: "1\r\nx\r\n0\r\n#{trailers}\r\n")
    seen = JSON.parse(client.read_response.body)

    assert_equal %w[localhost 1], seen.values_at("HTTP_HOST", "CONTENT_LENGTH")
    refute_includes seen.values, "evil"
    assert_equal "/next", client.get("/next").body
  end

  def test_a_get_may_have_a_body
    assert_equal "hello", connect.request("GET", "/echo", body: "hello").read_response.body
  end
end
