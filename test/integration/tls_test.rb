# frozen_string_literal: true

require "digest"
require "test_helper"

class TlsTest < Support::IntegrationTest
  CERTIFICATE = Support::TestCertificate.new("localhost", "127.0.0.1")
  BIND = "tls://127.0.0.1:0?cert=server.crt&key=server.key"
  ENV_APP = <<~RUBY
    run ->(env) { [200, {}, [env.values_at("rack.url_scheme", "HTTPS", "SERVER_NAME", "SERVER_PORT").inspect]] }
  RUBY
  DIGEST_APP = <<~RUBY
    require "digest"
    run ->(env) { [200, {}, [Digest::SHA256.hexdigest(env["rack.input"].read)]] }
  RUBY
  LARGE_APP = 'run ->(_env) { [200, {}, ["0123456789abcdef" * 65_536]] }'

  def test_both_versions_serve_a_request_with_its_scheme
    server = serve_tls(ENV_APP)

    assert_match %r{\Ahttps://127\.0\.0\.1:\d+\z}, server.urls.first
    %i[TLS1_2 TLS1_3].each do |version|
      client = connect(server, version: version)
      assert_equal ["https", "on", "localhost", "443"].inspect, client.get.body
      assert_equal version.to_s.sub("TLS1_", "TLSv1."), client.ssl.ssl_version
    end
  end

  # `hey` sends the port beside the host. A group that the server lacks makes the client send a second hello.
  def test_who_asks_for_what_is_no_host_name_gets_the_first_certificate
    server = serve_tls(ENV_APP)
    kinds = [[:TLS1_2, nil], [:TLS1_3, nil], [:TLS1_3, "P-521:P-256"]]
    kinds.product(["localhost:8443", "a..b"]) do |(version, groups), name|
      session = nil
      [false, true].each do |is_resumed|
        client = connect(server, name: name, version: version, session: session) do |context, _|
          context.verify_hostname = false
          context.ecdh_curves = groups if groups
          context.session_cache_mode = OpenSSL::SSL::SSLContext::SESSION_CACHE_CLIENT
          context.session_new_cb = ->((_ssl, new)) { session = new }
        end
        assert_equal [200, is_resumed], [client.get.status, client.ssl.session_reused?], "#{version} #{groups} #{name}"
        session ||= client.ssl.session
      end
    end
  end

  def test_a_proxy_header_precedes_the_handshake
    server = serve_tls('run ->(env) { [200, {}, [env.values_at("REMOTE_ADDR", "rack.url_scheme").join(" ")]] }',
                       binds: ["#{BIND}&proxy_protocol=true"])
    client = connect(server) { |_context, tcp| tcp.write("PROXY TCP4 192.0.2.1 198.51.100.2 4711 443\r\n") }

    assert_equal "192.0.2.1 https", client.get.body
  end

  def test_older_versions_are_refused_and_logged
    server = serve_tls(ENV_APP)

    assert_raises(OpenSSL::SSL::SSLError) do
      connect(server, version: :TLS1_1) { |context| context.ciphers = "ALL:@SECLEVEL=0" }
    end
    await_log(server, /TLS handshakes failed clients=1 last=127\.0\.0\.1 reason=.*/)
    assert_equal 200, connect(server).get.status
  end

  def test_the_client_may_name_http_2_and_1_1_and_nothing_else
    server = serve_tls(ENV_APP)
    { %w[http/1.1 h2] => "h2", %w[http/1.1 x] => "http/1.1" }.each do |offered, chosen|
      assert_equal chosen, connect(server) { |context| context.alpn_protocols = offered }.ssl.alpn_protocol
    end

    %i[TLS1_2 TLS1_3].each do |version|
      refused = assert_raises(OpenSSL::SSL::SSLError) do
        connect(server, version: version) { |context| context.alpn_protocols = %w[smtp] }
      end
      assert_match(/no application protocol/, refused.message, version)
    end
  end

  def test_large_bodies_pass_in_both_directions
    body = Random.new(1).bytes(3_000_001)
    upload = connect(serve_tls(DIGEST_APP)).request("POST", body: body).read_response
    assert_equal Digest::SHA256.hexdigest(body), upload.body

    client = connect(serve_tls(LARGE_APP))
    3.times { assert_equal "0123456789abcdef" * 65_536, client.get.body }
  end

  def test_a_parked_connection_serves_the_next_request
    server = serve_tls(ENV_APP, args: %w[--idle-timeout 60])
    client = connect(server)

    3.times do
      assert_equal 200, client.get.status
      refute client.closed_by_peer?(within: 1.3) # longer than an idle connection keeps its buffers
    end
  end

  def test_part_of_a_record_has_the_timeout_of_headers
    server = serve_tls(ENV_APP, args: %w[--header-timeout 300ms])
    client = connect(server)
    assert_equal 200, client.get.status

    client.ssl.to_io.write("\x17\x03\x03\x10\x00 a part")
    assert_equal 408, client.read_response.status
    assert_predicate client, :closed_by_peer?
  end

  def test_plain_http_on_a_tls_port_gets_a_400_that_says_so
    server = serve_tls(ENV_APP)
    response = Support::RawClient.tcp(server.host, server.port).get

    assert_equal [400, "this port speaks HTTPS, and the request is plain HTTP\n"], [response.status, response.body]
    await_log(server, /TLS handshakes failed .*plain HTTP/)
  end

  def test_tls_on_a_plain_port_is_logged
    server = serve(ENV_APP)

    assert_raises(OpenSSL::SSL::SSLError, Errno::ECONNRESET) { connect(server) }
    await_log(server, /TLS on a port without it clients=1 last=127\.0\.0\.1/)
  end

  def test_a_handshake_that_stalls_ends_and_holds_nobody_up
    server = serve_tls(ENV_APP, args: %w[--handshake-timeout 300ms])
    silent = Support::RawClient.tcp(server.host, server.port)
    stalled = Support::RawClient.tcp(server.host, server.port).write("\x16\x03\x01\x02\x00\x01\x00")
    others = Array.new(600) { Support::RawClient.tcp(server.host, server.port).write("\x16\x03\x01\x02\x00\x01\x00") }

    assert_equal 200, connect(server).get.status
    [silent, stalled, *others].each { |client| assert_predicate client, :closed_by_peer? }
  end

  def test_a_hello_that_is_too_long_ends_its_connection
    server = serve_tls(ENV_APP)
    client = Support::RawClient.tcp(server.host, server.port)
    record = "\x16\x03\x01\x40\x00".b
    hello = "\x01\x00\xff\x00\x03\x03".b
    begin
      client.write(record + hello.ljust(16_384, "x"))
      2.times { client.write(record + ("x" * 16_384)) }
    rescue Errno::EPIPE, Errno::ECONNRESET
      # The server did not wait for the rest.
    end

    assert_predicate client, :closed_by_peer?
    refute_includes server.log, "panic"
  end

  def test_rubbish_gets_an_alert_and_ends_its_connection_alone
    server = serve_tls(ENV_APP)
    other = connect(server)
    ["\x16\x03\x01\x00\x05hello", "\x00" * 100, "\x80\x2e\x01\x03", "\x16\x03\x01\xff\xff"].each do |rubbish|
      client = Support::RawClient.tcp(server.host, server.port).write(rubbish).close_write
      assert_predicate client, :closed_by_peer?, rubbish.inspect
    end

    client = connect(server)
    client.ssl.to_io.write("\x17\x03\x03\x00\x20#{"x" * 32}") # a record that the key does not open
    assert_match(/alert bad record mac/, assert_raises(OpenSSL::SSL::SSLError) { client.read_to_end }.message)
    assert_equal 200, other.get.status
    refute_includes server.log, "panic"
  end

  def test_the_end_of_the_server_is_the_end_of_the_session
    server = serve_tls(ENV_APP)
    client = connect(server)
    client.get
    server.kill(:TERM)

    assert_empty client.read_to_end # an SSLError without a close_notify
  end

  def test_a_parked_connection_that_times_out_ends_its_session
    client = connect(serve_tls(ENV_APP, args: %w[--idle-timeout 2]))
    client.get

    assert_empty client.read_to_end
  end

  def test_wrong_files_end_the_boot_with_their_reason
    other = Support::TestCertificate.new("localhost").files
    key = OpenSSL::PKey.read(CERTIFICATE.files["server.key"])
    cipher = OpenSSL::Cipher.new("aes-256-cbc")
    { { "server.key" => key.private_to_pem(cipher, "secret") } => /server\.key is encrypted: openssl pkey/,
      { "server.key" => key.export(cipher, "secret") } => /server\.key is encrypted: openssl pkey/,
      { "server.key" => other["server.key"] } => /the key in \S+ does not belong to the certificate in/,
      { "server.key" => "nothing" } => /server\.key has no private key in PEM form/,
      { "server.crt" => "nothing" } => /server\.crt has no certificate in PEM form/ }.each do |wrong, message|
      server = server(app: ENV_APP, binds: [BIND], files: CERTIFICATE.files.merge(wrong))

      assert_equal 1, server.run.exitstatus
      assert_match message, server.log
    end
  end

  def test_a_file_that_is_not_there_is_a_wrong_setting
    server = server(app: ENV_APP, binds: [BIND])

    assert_equal 78, server.run.exitstatus
    assert_match %r{names /\S+/server\.crt, which is not a file}, server.log
  end

  private

  def serve_tls(app, binds: [BIND], **options)
    serve(app, binds: binds, files: CERTIFICATE.files, **options)
  end

  def connect(server, **options, &block)
    Support::TlsClient.connect(server, trust: CERTIFICATE.certificate, **options, &block)
  end
end
