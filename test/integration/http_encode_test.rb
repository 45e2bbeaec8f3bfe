# frozen_string_literal: true

require "test_helper"

# Answers in content codings: which are, what their heads say, and that nothing of their bodies is lost.
class HttpEncodeTest < Support::SharedServerTest
  CODINGS = %w[gzip br zstd].freeze
  ABOUT_THE_BYTES = %w[content-encoding content-length transfer-encoding vary etag accept-ranges].freeze

  serves Support::EncodedBodies::APP, args: %w[--compress --access-log]

  CODINGS.each do |coding|
    define_method("test_every_kind_of_body_comes_in_#{coding}") do
      client = connect
      Support::EncodedBodies::ALL.each do |path, plain|
        response = client.get(path, fields: accepting(coding))

        assert_equal [200, [coding], ["Accept-Encoding"]], [response.status, *lines(response)], path
        assert_operator response.body.bytesize, :<, plain.bytesize / 2, path
        assert decode(response.body, coding) == plain, path
      end
    end
  end

  def test_every_kind_of_body_comes_as_it_is_to_a_client_that_takes_no_coding
    client = connect
    Support::EncodedBodies::ALL.each do |path, plain|
      [{}, accepting("identity"), accepting("gzip;q=0"), accepting("deflate"), accepting("identity;q=0")].each do |none|
        response = client.get(path, fields: none)

        assert_equal [[], ["Accept-Encoding"]], lines(response), path
        assert response.body == plain, path
      end
    end
  end

  def test_a_body_up_to_128_kibibytes_has_a_length_and_a_larger_one_has_chunks
    assert_equal [true, false], framing(get("/bytes?131072", "gzip"))
    assert_equal [false, true], framing(get("/bytes?131073", "gzip"))
    assert_equal [true, false], framing(get("/medium-file", "zstd"))
    assert_equal [false, true], framing(get("/known", "br"))
  end

  def test_a_head_answer_has_the_head_of_its_get_as_far_as_it_is_known
    client = connect
    { "/known" => "gzip", Support::EncodedBodies.with("content-length": "2000") => "gzip",
      Support::EncodedBodies.with("content-length": "2000", "content-type": "image/png") => nil }.each do |path, coding|
      client.request("HEAD", path, fields: accepting("gzip"))
      head = client.read_response(head: true)
      heads = [client.get(path, fields: accepting("gzip")), head].map { |response| about(response) }
      known = heads.map { |fields| fields.except("content-length", "transfer-encoding") }

      assert_equal [coding, known.first], [head["content-encoding"], known.last]
    end
    client.request("HEAD", "/each", fields: accepting("gzip"))
    assert_equal [[], ["Accept-Encoding"]], lines(client.read_response(head: true))
  end

  def test_pipelined_requests_are_answered_each_in_its_coding
    asked = [["/bytes?9000", "gzip"], ["/large-file", "zstd"], ["/bytes?10", "br"], ["/each", "br"], ["/known", ""]]
    client = connect.write(asked.map { |path, coding| request("GET #{path} HTTP/1.1", coding) }.join)
    responses = asked.map { client.read_response }

    assert_equal ["gzip", "zstd", nil, "br", nil], responses.map { |response| response["content-encoding"] }
    assert decode(responses[1].body, "zstd") == Support::EncodedBodies::LINES
    assert decode(responses[3].body, "br") == Support::EncodedBodies::PIECES
  end

  def test_a_client_of_http_1_0_gets_a_stream_until_the_connection_closes
    %w[/each /large-file].each do |path|
      client = connect.write(request("GET #{path} HTTP/1.0", "gzip", "Connection: keep-alive\r\n"))
      head, body = client.read_to_end.split("\r\n\r\n", 2)

      assert_match(/^connection: close/, head)
      refute_match(/^(transfer-encoding|content-length)/, head)
      assert decode(body, "gzip") == Support::EncodedBodies::ALL.fetch(path), path
    end
  end

  def test_a_body_that_breaks_does_not_look_complete
    %w[gzip br zstd].product(%w[/broken /too-short /too-long]) do |coding, path|
      client = connect
      client.request("GET", path, fields: accepting(coding))

      assert_raises(EOFError, "#{path} #{coding}") { client.read_response }
    end
    eventually { assert_includes log, "a broken body" }
  end

  def test_the_access_log_counts_the_bytes_that_were_sent
    { "/bytes?100000" => "gzip", "/large-file" => "zstd", "/each" => "br" }.each do |path, coding|
      bytes = get(path, coding).body.bytesize

      eventually { assert_match(/"GET #{Regexp.escape(path)} HTTP\S+" 200 #{bytes} /, log) }
    end
  end

  private

  def accepting(coding)
    { "Accept-Encoding" => coding }
  end

  def get(path, coding)
    connect.get(path, fields: accepting(coding))
  end

  def request(line, coding, fields = "")
    "#{line}\r\nHost: a\r\nAccept-Encoding: #{coding}\r\n#{fields}\r\n"
  end

  def lines(response)
    [response.values("content-encoding"), response.values("vary")]
  end

  def framing(response)
    [!response.content_length.nil?, response.chunked?]
  end

  # What the head says of the bytes.
  def about(response)
    response.fields.select { |name, _| ABOUT_THE_BYTES.include?(name) }.to_h
  end

  def decode(...)
    Support::ContentCodings.decode(...)
  end
end
