# frozen_string_literal: true

require "fileutils"
require "test_helper"

# 103 Early Hints (RFC 8297): fields that the client gets while the application works on the response.
class EarlyHintsTest < Support::SharedServerTest
  LINK = "</app.css>; rel=preload; as=style"
  # /gate hints and waits, /text and /list hint several values, /bad what must not be sent, /large too much, /late in
  # the body, /kept by the callable of an earlier request, /many many times; /big is a response that no socket holds.
  APP = <<~'RUBY'
    link = "</app.css>; rel=preload; as=style"
    kept = nil
    actions = {
      "/gate" => lambda do |hints|
        hints.call("Link" => link)
        sleep 0.005 until File.exist?("gate")
      end,
      "/text" => ->(hints) { hints.call("Link" => "</a.css>\n</b.css>") },
      "/list" => ->(hints) { hints.call([["link", %w[</a.css> </b.css>]]]) },
      "/bad" => lambda do |hints|
        hints.call("link" => "</a>\r\nset-cookie: a=1", "x\r\ny" => "1", "x-nul" => "\0", "content-length" => "3",
                   "connection" => "close", "transfer-encoding" => "chunked", "rack.own" => 1, "x-good" => "1")
        hints.call("x y" => "1")
        hints.call({})
      end,
      "/large" => ->(hints) { hints.call("link" => "x" * 20_000) || hints.call("x" * 900 => "") },
      "/many" => ->(hints) { 1000.times { |number| hints.call("x-number" => number.to_s) } },
      "/kept" => ->(hints) { kept ? kept.call("x-late" => "1") : kept = hints }
    }
    bodies = {
      "/late" => ->(hints) { Enumerator.new { |out| 2.times { out << "piece" && hints.call("x-late" => "1") } } },
      "/big" => ->(_) { ["x" * 8_000_000] }
    }
    run(lambda do |env|
      hints, path = env.values_at("rack.early_hints", "PATH_INFO")
      actions[path]&.call(hints)
      [200, { "content-type" => "text/plain" }, bodies.fetch(path, ->(_) { [hints.class.name.to_s] }).call(hints)]
    end)
  RUBY

  serves APP, threads: 2, args: %w[--early-hints --access-log]

  def setup
    super
    FileUtils.rm_f(File.join(server.directory.path, "gate"))
  end

  def test_hints_arrive_while_the_application_works
    client = server.connect.request("GET", "/gate")
    hints = client.read_response
    assert_equal ["HTTP/1.1", 103, "Early Hints", [["link", LINK]], ""],
                 hints.to_h.values_at(:version, :status, :reason, :fields, :body)

    server.gate.open
    assert_equal 200, client.read_response.status
    assert_equal 200, client.get("/").status
  end

  def test_several_values_are_several_fields
    %w[/text /list].each do |path|
      client = server.connect.request("GET", path)
      assert_equal [103, %w[</a.css> </b.css>]], client.read_response.then { |it| [it.status, it.values("link")] }
      assert_equal 200, client.read_response.status
    end
  end

  def test_the_hints_of_a_request_are_limited
    client = server.connect.request("GET", "/large")
    assert_equal [[103, 900], 200], [client.read_response.then { |it| [it.status, it.fields[0][0].size] },
                                       client.read_response.status]
    client.request("GET", "/many")
    statuses = [client.read_response.status]
    statuses << client.read_response.status until statuses.last == 200
    assert_includes 100..(16 * 1024 / 41), statuses.size - 1
  end

  def test_hints_come_between_the_responses_of_one_connection
    client = server.connect
    client.write("GET /big HTTP/1.1\r\nHost: a\r\n\r\nGET /text HTTP/1.1\r\nHost: a\r\n\r\n" * 2)
    statuses = Array.new(6) { client.read_response.then { |it| [it.status, it.body.bytesize > 1_000_000] } }

    assert_equal [[200, true], [103, false], [200, false]] * 2, statuses
  end

  def test_a_response_that_has_begun_has_no_hints
    client = server.connect
    responses = %w[/late /kept /kept /].map { |path| client.get(path) }

    assert_equal [200] * 4, responses.map(&:status)
    assert_equal "piecepiece", responses.first.body
  end

  def test_a_client_of_http_1_0_gets_no_hints
    client = server.connect.write("GET /text HTTP/1.0\r\nHost: a\r\n\r\n")

    assert_equal 200, client.read_response.status
  end

  def test_a_body_that_is_asked_for_comes_first
    client = server.connect.request("POST", "/text", fields: { "Content-Length" => 3, "Expect" => "100-continue" })
    assert_equal 100, client.read_response.status
    client.write("abc")

    assert_equal [103, 200], Array.new(2) { client.read_response.status }
  end

  def test_hints_are_encrypted_as_the_response_is
    certificate = Support::TestCertificate.new("localhost")
    server = serve(APP, binds: ["tls://127.0.0.1:0?cert=server.crt&key=server.key"], files: certificate.files,
                        args: %w[--early-hints])
    client = Support::TlsClient.connect(server, trust: certificate.certificate)
    client.request("GET", "/text")

    assert_equal [103, 200], Array.new(2) { client.read_response.status }
  end

  def test_a_stream_of_http_2_gets_hints_before_its_response
    client = Support::Http2Client.new(server.connect).take_settings
    client.write(client.request(1, path: "/gate"))
    assert_equal 103, client.await(:headers, stream: 1).status

    client.write(client.request(3, path: "/text"))
    assert_equal([103, 200], Array.new(2) { client.await(:headers, stream: 3).status })

    server.gate.open
    assert_equal 200, client.await(:headers, stream: 1).status
  end

  def test_without_the_option_the_application_has_nothing_to_call
    assert_equal "NilClass", serve(APP).get("/").body
  end
end

# The same in fibers.
class EarlyHintsInFibersTest < EarlyHintsTest
  serves APP, threads: nil, fibers: 8, args: %w[--early-hints --access-log]
end
