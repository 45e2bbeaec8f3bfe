# frozen_string_literal: true

require "json"
require "test_helper"

# Who the client is when a proxy says so: to the application and in the access log, by `trusted_proxies`.
class ForwardedTest < Support::IntegrationTest
  APP = <<~'RUBY'
    require "json"
    run ->(env) { [200, {}, [JSON.generate(env.select { |_, value| value.is_a?(String) })]] }
  RUBY
  CLIENT = %w[REMOTE_ADDR rack.url_scheme SERVER_NAME SERVER_PORT HTTPS].freeze
  LISTS = { "Host" => "inner", "X-Forwarded-For" => "6.6.6.6, 192.0.2.1", "X-Forwarded-Proto" => "https",
            "X-Forwarded-Host" => "example.org" }.freeze
  FIELD = { "Host" => "inner", "Forwarded" => "for=6.6.6.6, for=192.0.2.1;proto=https;host=example.org" }.freeze
  SAID = ["192.0.2.1", "https", "example.org", "443", "on"].freeze
  UNSAID = ["127.0.0.1", "http", "inner", "80", nil].freeze

  def test_a_trusted_proxy_names_its_client
    trusting "--trusted-proxies", "127.0.0.0/8", "--access-log"
    assert_equal SAID, seen(LISTS).values_at(*CLIENT)
    assert_equal UNSAID, seen("Host" => "inner").values_at(*CLIENT)
    assert_equal "8443", seen(LISTS.merge("X-Forwarded-Port" => "8443"))["SERVER_PORT"]
    await_log(@server, /^192\.0\.2\.1 - - /)
  end

  def test_only_the_headers_of_one_family_count_and_the_others_are_removed
    trusting "--trusted-proxies", "127.0.0.1"
    assert_equal [*UNSAID, nil], seen(FIELD).values_at(*CLIENT, "HTTP_FORWARDED")
    trusting "--trusted-proxies", "127.0.0.1", "--proxy-headers", "forwarded"
    assert_equal SAID, seen(FIELD).values_at(*CLIENT)
    assert_equal [*UNSAID, nil, nil], seen(LISTS).values_at(*CLIENT, "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST")
  end

  private

  def trusting(*args)
    @server = serve(APP, workers: 1, threads: 1, args: args)
  end

  def seen(fields)
    JSON.parse(@server.get("/", fields: fields).body)
  end
end
