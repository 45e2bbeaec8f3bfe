# frozen_string_literal: true

require "test_helper"

# Clients of plain HTTP are sent to HTTPS.
class ForceTlsTest < Support::IntegrationTest
  APP = 'run ->(env) { [200, {}, [env["rack.input"].read.size.to_s]] }'
  CERTIFICATE = Support::TestCertificate.new("localhost", "127.0.0.1")
  HSTS = "Strict-Transport-Security"

  def test_a_request_in_clear_is_sent_to_https
    client = forcing.connect
    response = client.get("/a?b=c", fields: { "Host" => "example.org:9292" })

    assert_equal [308, "https://example.org/a?b=c"], [response.status, response["Location"]]
    assert_nil response[HSTS]
    assert_equal "", client.read_to_end
  end

  def test_a_body_in_clear_is_not_served
    server = forcing
    response = server.connect.request("POST", fields: { "Host" => "a" }, body: "x" * 300_000).read_response

    assert_equal [308, "https://a/"], [response.status, response["Location"]]
    refute_match(/error|panic/, server.log)
  end

  def test_what_comes_over_tls_or_so_a_trusted_proxy_says_is_served
    files = CERTIFICATE.files
    server = forcing(binds: ["tcp://127.0.0.1:0", "tls://127.0.0.1:0?cert=server.crt&key=server.key"], files: files)
    over_tls = Support::TlsClient.connect(server, trust: CERTIFICATE.certificate, nth: 1).get
    passed_on = server.get(fields: { "X-Forwarded-Proto" => "https" })

    [over_tls, passed_on].each { |response| assert_equal [200, "max-age=60"], [response.status, response[HSTS]] }
  end

  def test_the_readiness_of_a_load_balancer_is_served_in_clear
    assert_equal [200, nil], forcing.get("/up").then { |response| [response.status, response[HSTS]] }
  end

  private

  def forcing(**options)
    args = %w[--force-tls --hsts-max-age 60 --readiness-path /up --trusted-proxies 127.0.0.1]
    serve(APP, workers: 1, threads: 1, args: args, **options)
  end
end
