# frozen_string_literal: true

require "digest"
require "json"
require "test_helper"

# Bodies in content codings, which the application sees plain.
class HttpDecodeTest < Support::SharedServerTest
  NAMES = Support::ContentCodings::NAMES
  SMALL = (1..200).map { |n| "#{n * n} na\u00efve \xff\r\n" }.join.b.freeze
  LARGE = Array.new(60_000) { |n| %({"id":#{n},"digest":"#{Digest::MD5.hexdigest(n.to_s)}"}\n) }.join.b.freeze
  LARGE_DIGEST = "#{LARGE.bytesize} #{Digest::SHA256.hexdigest(LARGE)}"

  serves Support::Probe::APP, args: %w[--decode-requests --inline-body-limit 64KB]

  NAMES.each do |coding|
    define_method("test_a_body_in_#{coding}_arrives_plain_in_either_framing") do
      coded = encode(SMALL, coding)
      client = connect

      assert_equal SMALL, post(client, "/echo", coded, coding).body
      assert_equal SMALL, post_chunked(client, "/echo", coded, coding, 7).body
      assert_equal LARGE_DIGEST, post(client, "/digest", encode(LARGE, coding), coding).body
      assert_equal LARGE_DIGEST, post_chunked(client, "/digest", encode(LARGE, coding), coding, 30_011).body
    end
  end

  def test_the_headers_are_those_of_the_plain_body
    client = connect
    coded = encode(SMALL, "gzip")
    [post(client, "/env", coded, "gzip"), post_chunked(client, "/env", coded, "gzip", 100)].each do |response|
      seen = JSON.parse(response.body)

      assert_equal SMALL.bytesize.to_s, seen["CONTENT_LENGTH"]
      assert_empty seen.keys & %w[HTTP_CONTENT_ENCODING HTTP_TRANSFER_ENCODING HTTP_CONTENT_LENGTH]
    end
  end

  def test_a_continue_is_sent_for_a_known_coding
    coded = encode("hello", "br")
    client = connect.request("POST", "/echo", fields: fields("br", "Content-Length" => coded.bytesize,
                                                                   "Expect" => "100-continue"))

    assert_equal 100, client.read_response.status
    assert_equal "hello", client.write(coded).read_response.body
  end

  def test_a_client_that_leaves_in_the_middle_leaves_nothing_behind
    coded = encode(LARGE, "gzip")
    client = connect.request("POST", "/digest", fields: fields("gzip", "Content-Length" => coded.bytesize))
    client.write(coded.byteslice(0, coded.bytesize / 2))
    eventually { Support::ProcessTree.unlinked(server.pid).any? }
    client.reset

    eventually { assert_empty Support::ProcessTree.unlinked(server.pid) }
    assert_equal "hello", post(connect, "/echo", encode("hello", "gzip"), "gzip").body
  end

  def test_a_coded_form_is_taken_apart_by_the_edge
    app = 'run ->(env) { file = Rack::Request.new(env).params["file"]; ' \
          '[200, {}, ["#{file[:tempfile].class} #{file[:tempfile].size}"]] }'
    server = serve("require \"rack\"\n#{app}", args: %w[--decode-requests --multipart edge])
    form = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n".b + LARGE + "\r\n--b--\r\n"
    fields = fields("br", "Content-Type" => "multipart/form-data; boundary=b")

    assert_equal "Carat::FormFile #{LARGE.bytesize}",
                 server.request("POST", "/", fields: fields, body: encode(form, "br")).body
  end

  private

  def encode(...)
    Support::ContentCodings.encode(...)
  end

  def fields(coding, more = {})
    { "Content-Encoding" => coding, **more }
  end

  def post(client, target, coded, coding)
    client.request("POST", target, fields: fields(coding), body: coded).read_response
  end

  def post_chunked(client, target, coded, coding, size)
    fields = fields(coding, "Transfer-Encoding" => "chunked")
    client.request("POST", target, fields: fields, body: chunks(coded, size)).read_response
  end
end
