# frozen_string_literal: true

require "json"
require "openssl"
require "test_helper"

# Clients show certificates, and the application learns who they are.
class TlsClientsTest < Support::IntegrationTest
  APP = <<~'RUBY'
    require "json"
    run ->(env) { [200, {}, [JSON.generate(env.select { |name, _| name.include?("SSL_CLIENT") })]] }
  RUBY
  SERVER = Support::TestCertificate.new("localhost", "127.0.0.1")
  AUTHORITY = Support::TestCertificate.new
  ALICE = Support::TestCertificate.new("alice", issuer: AUTHORITY)
  STRANGER = Support::TestCertificate.new("alice")
  BIND = "tls://127.0.0.1:0?cert=server.crt&key=server.key&ca=ca.crt"

  def test_the_application_gets_the_certificate_and_its_names
    %i[TLS1_2 TLS1_3].each do |version|
      env = JSON.parse(connect(asking, ALICE, version: version).get.body)

      assert_equal ["SUCCESS", "CN=alice", "CN=Test Authority"],
                   env.values_at("SSL_CLIENT_VERIFY", "SSL_CLIENT_S_DN", "SSL_CLIENT_I_DN")
      assert_equal ALICE.certificate.to_der, OpenSSL::X509::Certificate.new(env["SSL_CLIENT_CERT"]).to_der
    end
  end

  def test_the_chain_follows_the_certificate
    client = connect(asking, ALICE, chain: [AUTHORITY.certificate])
    env = JSON.parse(client.get.body)

    assert_equal AUTHORITY.certificate.to_pem, env["SSL_CLIENT_CERT_CHAIN_0"]
  end

  def test_a_client_without_a_certificate_or_with_one_of_somebody_else_is_refused
    server = asking
    [nil, STRANGER].each do |certificate|
      assert_raises(OpenSSL::SSL::SSLError, EOFError, SystemCallError) { connect(server, certificate).get }
      await_log(server, /TLS handshakes failed clients=\d+ last=127\.0\.0\.1 reason=/)
    end
    assert_equal 200, connect(server, ALICE).get.status
  end

  # The request is unread when the connection ends: a reset would take the alert from the client.
  def test_a_client_that_is_refused_reads_why_whatever_it_has_sent
    server = asking
    { nil => /certificate required/, STRANGER => /unknown ca/ }.each do |certificate, reason|
      client = connect(server, certificate, version: :TLS1_3)
      client.write("x" * 20_000)
      refused = assert_raises(OpenSSL::SSL::SSLError) { client.read_response }
      assert_match(reason, refused.message)
    end
  end

  def test_a_certificate_may_be_optional_but_never_wrong
    server = asking("#{BIND}&verify=optional")

    assert_equal({ "SSL_CLIENT_VERIFY" => "NONE" }, JSON.parse(connect(server, nil).get.body))
    assert_equal "SUCCESS", JSON.parse(connect(server, ALICE).get.body)["SSL_CLIENT_VERIFY"]
    assert_raises(OpenSSL::SSL::SSLError, EOFError, SystemCallError) { connect(server, STRANGER).get }
  end

  def test_no_header_field_poses_as_a_certificate
    lies = { "SSL-Client-Verify" => "SUCCESS", "SSL_CLIENT_VERIFY" => "SUCCESS" }
    env = JSON.parse(connect(asking("#{BIND}&verify=optional"), nil).get("/", fields: lies).body)
    assert_equal({ "SSL_CLIENT_VERIFY" => "NONE", "HTTP_SSL_CLIENT_VERIFY" => "SUCCESS" }, env)

    client = connect(asking("#{BIND}&verify=optional"), nil)
    assert_equal 400, client.get("/", fields: { ":SSL_CLIENT_VERIFY" => "SUCCESS" }).status
  end

  def test_a_resumed_session_keeps_its_certificate
    server = asking
    session = nil
    keep = proc { |context| context.session_cache_mode = OpenSSL::SSL::SSLContext::SESSION_CACHE_CLIENT }
    first = connect(server, ALICE, version: :TLS1_3) do |context|
      keep.call(context)
      context.session_new_cb = ->((_ssl, new)) { session = new }
    end
    first.get
    again = connect(server, nil, version: :TLS1_3, session: session, &keep)

    assert_equal "CN=alice", JSON.parse(again.get.body)["SSL_CLIENT_S_DN"]
    assert_predicate again.ssl, :session_reused?
  end

  private

  def asking(bind = BIND)
    files = SERVER.files.merge("ca.crt" => AUTHORITY.certificate.to_pem)
    serve(APP, workers: 1, threads: 1, binds: [bind], files: files)
  end

  def connect(server, client, chain: [], **options)
    Support::TlsClient.connect(server, trust: SERVER.certificate, **options) do |context, tcp|
      context.add_certificate(client.certificate, client.key, chain) if client
      yield context, tcp if block_given?
    end
  end
end
