# frozen_string_literal: true

require "openssl"
require "test_helper"

# Keys of several kinds, and the thread that uses them.
class TlsKeysTest < Support::IntegrationTest
  APP = 'run ->(_env) { [200, {}, ["served"]] }'
  BIND = "tls://127.0.0.1:0?cert=server.crt&key=server.key"
  RSA = Support::TestCertificate.new("localhost", key: OpenSSL::PKey::RSA.generate(2048))
  P384 = Support::TestCertificate.new("localhost", key: OpenSSL::PKey::EC.generate("secp384r1"))
  P256 = Support::TestCertificate.new("localhost")

  def test_each_kind_of_key_serves_both_versions
    [RSA, P384].each do |certificate|
      server = serve_with(certificate)
      %i[TLS1_2 TLS1_3].each do |version|
        assert_equal "served", connect(server, certificate, version: version).get.body
      end
    end
  end

  def test_handshakes_have_a_thread_from_the_first_client_on
    server = serve_with(P256)
    counts = Array.new(3) do
      threads = Dir["/proc/#{server.pid}/task/*/comm"].count { |name| File.read(name) == "carat tls\n" }
      connect(server, P256).get
      threads
    end

    assert_equal [0, 1, 1], counts
  end

  def test_more_clients_than_the_thread_takes_at_once_are_served
    server = serve_with(RSA)
    clients = Array.new(40) { Thread.new { connect(server, RSA).get.status } }

    assert_equal [200], clients.map(&:value).uniq
  end

  def test_a_client_gets_one_ticket
    tickets = 0
    client = connect(serve_with(P256), P256, version: :TLS1_3) do |context|
      context.session_cache_mode = OpenSSL::SSL::SSLContext::SESSION_CACHE_CLIENT
      context.session_new_cb = ->(_) { tickets += 1 }
    end
    client.get

    assert_equal 1, tickets
  end

  private

  def serve_with(certificate, **options) = serve(APP, binds: [BIND], files: certificate.files, **options)

  def connect(server, certificate, **options, &block)
    Support::TlsClient.connect(server, trust: certificate.certificate, **options, &block)
  end
end
