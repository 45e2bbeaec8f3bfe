# frozen_string_literal: true

require "json"
require "test_helper"

# Requests over HTTP/2, in clear with prior knowledge and over TLS, by curl.
class Http2Test < Support::IntegrationTest
  CERTIFICATE = Support::TestCertificate.new("localhost", "127.0.0.1")
  BINDS = ["tcp://127.0.0.1:0", "tls://127.0.0.1:0?cert=server.crt&key=server.key"].freeze
  ENV_APP = <<~'RUBY'
    require "json"
    run lambda { |env|
      strings = env.select { |_, value| value.is_a?(String) }
      [200, {}, [JSON.generate(strings.merge("body" => env["rack.input"].read.size.to_s))]]
    }
  RUBY

  def test_the_environment_is_that_of_http_2
    server = serve_both(ENV_APP)

    each_transport(server) do |url, transport|
      reply = curl(server, "#{url}/a%20b?c=d", "-H", "Cookie: a=1; b=2", "-H", "X-Two: 1", "-H", "X-Two: 2")
      env = JSON.parse(reply.body)
      assert_equal "HTTP/2 200", reply.status_line
      assert_equal %w[HTTP/2 HTTP/2 GET /a%20b c=d], env.values_at("SERVER_PROTOCOL", "HTTP_VERSION", "REQUEST_METHOD",
                                                                   "PATH_INFO", "QUERY_STRING")
      assert_equal [url[%r{//(.*)}, 1], "a=1; b=2", "1, 2"], env.values_at("HTTP_HOST", "HTTP_COOKIE", "HTTP_X_TWO")
      assert_equal [transport, "localhost", "127.0.0.1"], env.values_at("rack.url_scheme", "SERVER_NAME", "REMOTE_ADDR")
      assert_empty env.keys.grep(/HTTP_:|HTTP_(AUTHORITY|PATH|METHOD|SCHEME)/)
    end
  end

  def test_bodies_have_their_lengths_whether_they_are_declared_or_not
    server = serve_both(ENV_APP)

    each_transport(server) do |url, _|
      [0, 1, 70_000, 3_000_001].each do |size|
        declared = curl(server, url, "--data-binary", "@-", input: "x" * size)
        chunked = curl(server, url, "-H", "Transfer-Encoding: chunked", "-T", "-", input: "x" * size)
        [declared, chunked].each do |reply|
          env = JSON.parse(reply.body)
          assert_equal [size.to_s, size.to_s], env.values_at("CONTENT_LENGTH", "body")
        end
      end
    end
  end

  def test_responses_without_a_body_have_none
    server = serve_both(<<~'RUBY')
      run lambda { |env|
        status = env["PATH_INFO"].delete("/").to_i
        [status, { "content-length" => "4" }, status == 200 ? ["four"] : []]
      }
    RUBY

    url = plain(server)
    head = curl(server, "#{url}/200", "--head")
    assert_equal [200, "4", ""], [head.status, head["content-length"], head.body]
    assert_equal [204, nil, ""], curl(server, "#{url}/204").then { |it| [it.status, it["content-length"], it.body] }
    assert_equal [304, ""], curl(server, "#{url}/304").then { |it| [it.status, it.body] }
    assert_equal ["4", "four"], curl(server, "#{url}/200").then { |it| [it["content-length"], it.body] }
  end

  def test_large_and_streamed_responses_arrive_complete
    server = serve_both(<<~'RUBY')
      class Chunks
        def each = 200.times { |index| yield index.chr * 50_000 }
      end
      run ->(env) { [200, {}, env["PATH_INFO"] == "/stream" ? Chunks.new : ["0123456789abcdef" * 300_000]] }
    RUBY

    each_transport(server) do |url, _|
      assert_equal "0123456789abcdef" * 300_000, curl(server, "#{url}/whole").body
      streamed = curl(server, "#{url}/stream")
      assert_equal 200 * 50_000, streamed.body.bytesize
      assert_nil streamed["content-length"]
    end
  end

  def test_fields_of_a_connection_are_not_sent
    server = serve_both('run ->(_) { [200, { "connection" => "close", "keep-alive" => "1", "x-a" => "b" }, ["."]] }')
    reply = curl(server, plain(server))

    assert_equal [nil, nil, "b"], [reply["connection"], reply["keep-alive"], reply["x-a"]]
    assert_match(/GMT\z/, reply["date"])
  end

  def test_nobody_takes_over_a_connection_that_others_use
    server = serve_both('run ->(env) { [200, {}, [env["rack.hijack?"], env.key?("rack.hijack")].map(&:to_s)] }')

    assert_equal "falsefalse", curl(server, plain(server)).body
  end

  def test_it_can_be_turned_off
    server = serve_both(ENV_APP, args: %w[--no-http2])

    assert_equal "HTTP/1.1 200 OK", curl(server, secure(server), "--http2").status_line
    client = server.connect.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    assert_match(%r{\AHTTP/1.1 505 }, client.read_to_end)
  end

  private

  def serve_both(app, **options)
    serve(app, workers: 1, threads: 2, binds: BINDS, files: CERTIFICATE.files, **options)
  end

  def each_transport(server)
    yield plain(server), "http"
    yield secure(server), "https"
  end

  def plain(server)
    "http://localhost:#{server.port(0)}"
  end

  def secure(server)
    "https://localhost:#{server.port(1)}"
  end

  def curl(server, url, *options, input: "")
    version = url.start_with?("https") ? "--http2" : "--http2-prior-knowledge"
    Support::Curl.get(url, version, "--ipv4", "--cacert", File.join(server.directory.path, "server.crt"), *options,
                      input: input)
  end
end
