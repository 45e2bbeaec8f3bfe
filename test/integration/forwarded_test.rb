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
    trusting "--trusted-proxies", "127.0.0.0/8"
    assert_equal SAID, seen(LISTS).values_at(*CLIENT)
    assert_equal UNSAID, seen("Host" => "inner").values_at(*CLIENT)
    assert_equal "8443", seen(LISTS.merge("X-Forwarded-Port" => "8443"))["SERVER_PORT"]
  end

  def test_only_the_headers_of_one_family_count_and_the_others_are_removed
    trusting "--trusted-proxies", "127.0.0.1"
    assert_equal [*UNSAID, nil], seen(FIELD).values_at(*CLIENT, "HTTP_FORWARDED")
    trusting "--trusted-proxies", "127.0.0.1", "--proxy-headers", "forwarded"
    assert_equal SAID, seen(FIELD).values_at(*CLIENT)
    assert_equal [*UNSAID, nil, nil], seen(LISTS).values_at(*CLIENT, "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST")
  end

  def test_what_others_say_is_removed_once_somebody_is_trusted
    %w[192.0.2.0/24 none].each do |network|
      trusting "--trusted-proxies", network
      env = seen(LISTS.merge(FIELD))
      assert_equal UNSAID, env.values_at(*CLIENT)
      assert_empty env.keys.grep(/FORWARDED/)
    end
  end

  def test_nothing_is_read_or_removed_while_nobody_is_trusted
    trusting
    env = seen(LISTS)
    assert_equal UNSAID, env.values_at(*CLIENT)
    assert_equal ["6.6.6.6, 192.0.2.1", "https"], env.values_at("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO")
  end

  def test_a_peer_on_a_unix_socket_is_trusted
    trusting "-b", "unix://carat.sock", "--access-log"
    lines = LISTS.map { |name, value| "#{name}: #{value}\r\n" }.join
    client = @server.connect(@server.urls.last)
    response = client.write("GET / HTTP/1.1\r\n#{lines}\r\n").read_response
    assert_equal SAID, JSON.parse(response.body).values_at(*CLIENT)
    await_log(@server, /^192\.0\.2\.1 - - /)
  ensure
    client&.close
  end

  private

  def trusting(*args)
    @server = serve(APP, workers: 1, threads: 1, args: args)
  end

  def seen(fields)
    JSON.parse(@server.get("/", fields: fields).body)
  end
end
