# frozen_string_literal: true

require "digest"
require "json"
require "rack"
require "test_helper"

# What Rack says about the environment, checked by Rack::Lint and by what the application sees.
class RackEnvironmentTest < Support::SharedServerTest
  serves <<~'RUBY', workers: 1, threads: 2
    require "digest"
    require "json"

    look = lambda do |env|
      body = env["rack.input"].read
      seen = env.select { |_, value| value.is_a?(String) || value == true || value == false }
      seen.merge("body" => Digest::SHA256.hexdigest(body), "lists" => env.select { |_, value| value == [] }.keys)
    end

    use Rack::Lint
    run ->(env) { [200, { "content-type" => "application/json" }, [JSON.generate(look.call(env))]] }
  RUBY

  def teardown
    refute_includes log, "LintError"
    super
  end

  def test_every_verb
    %w[GET POST PUT PATCH DELETE OPTIONS TRACE PURGE].each do |verb|
      assert_equal verb, seen(verb, "/")["REQUEST_METHOD"]
    end
    assert_equal 200, server.request("HEAD").status
  end

  def test_the_constants
    env = seen("GET", "/")
    expected = { "SCRIPT_NAME" => "", "QUERY_STRING" => "", "REMOTE_ADDR" => "127.0.0.1",
                 "SERVER_PROTOCOL" => "HTTP/1.1", "HTTP_VERSION" => "HTTP/1.1", "rack.url_scheme" => "http",
                 "rack.multithread" => true, "rack.multiprocess" => false, "rack.run_once" => false,
                 "rack.hijack?" => true }
    assert_equal expected, env.slice(*expected.keys)
    assert_equal %w[rack.after_reply rack.response_finished], env["lists"].sort
  end

  def test_the_target
    assert_equal ["/a%20b", "c=d&e=%25", "/a%20b?c=d&e=%25"],
                 seen("GET", "/a%20b?c=d&e=%25").values_at("PATH_INFO", "QUERY_STRING", "REQUEST_URI")
    assert_equal [rack31? ? "*" : "", "*"], seen("OPTIONS", "*").values_at("PATH_INFO", "REQUEST_URI")
  end

  def test_the_server_is_what_the_client_calls_it
    { "example.org" => %w[example.org 80], "example.org:81" => %w[example.org 81], "[::1]:82" => ["[::1]", "82"],
      "127.0.0.1" => %w[127.0.0.1 80] }.each do |host, expected|
      env = seen("GET", "/", fields: { "Host" => host })
      assert_equal [*expected, host], env.values_at("SERVER_NAME", "SERVER_PORT", "HTTP_HOST")
    end
  end

  def test_http_1_0_without_a_host
    response = connect.write("GET / HTTP/1.0\r\n\r\n").read_response
    env = JSON.parse(response.body)
    assert_equal ["HTTP/1.0", "HTTP/1.0", "localhost", server.port.to_s],
                 env.values_at("SERVER_PROTOCOL", "HTTP_VERSION", "SERVER_NAME", "SERVER_PORT")
  end

  def test_odd_headers
    env = seen("GET", "/", fields: { "x.odd~!#$%&'*+^`|" => "1", "Version" => "evil", "Content-Type" => "",
                                     "X-Long-#{"y" * 300}" => "2", "Cookie" => "a=1", "Accept" => %w[a b] })
    assert_equal ["1", "HTTP/1.1", "", "2", "a=1", "a, b"],
                 env.values_at("HTTP_X.ODD~!\#$%&'*+^`|", "HTTP_VERSION", "CONTENT_TYPE", "HTTP_X_LONG_#{"Y" * 300}",
                               "HTTP_COOKIE", "HTTP_ACCEPT")
  end

  def test_a_request_without_a_body_has_an_empty_one
    assert_equal [Digest::SHA256.hexdigest(""), nil], seen("GET", "/").values_at("body", "CONTENT_LENGTH")
    assert_equal Digest::SHA256.hexdigest(""), seen("POST", "/", body: "")["body"]
  end

  private

  def seen(verb, target, **options)
    JSON.parse(server.request(verb, target, **options).body)
  end

  def rack31?
    Gem::Version.new(Rack.release) >= Gem::Version.new("3.1")
  end
end
