# frozen_string_literal: true

require "net/http"
require "test_helper"

# How many requests each client address may send: the option `rate_limit`.
class RateLimitTest < Support::IntegrationTest
  include Support::ControlledServer

  # Sends back what arrives after an upgrade.
  CODE = <<~'RUBY'
    echo = ->(io) { IO.copy_stream(io, io) }
    switch = [101, { "connection" => "upgrade", "upgrade" => "echo", "rack.hijack" => echo }, []]
    run ->(env) { env["HTTP_UPGRADE"] ? switch : [200, {}, ["ok"]] }
  RUBY
  UPGRADE = { "Connection" => "Upgrade", "Upgrade" => "echo" }.freeze
  MINUTE = "2/m"
  TRUSTING = 'trusted_proxies "127.0.0.0/8"'

  def test_a_client_gets_429_and_is_served_on_the_same_connection_after_retry_after
    client = limited("20/m").connect
    *served, refused = Array.new(21) { client.get }

    assert_equal [[200], 429, nil], [served.map(&:status).uniq, refused.status, refused["connection"]]
    assert_includes 1..3, Integer(refused["retry-after"])
    assert_equal "too many requests come from this address\n", refused.body
    sleep Integer(refused["retry-after"])
    assert_equal 200, client.get.status
  end

  def test_clients_have_limits_of_their_own_as_a_trusted_proxy_names_them
    server = limited(MINUTE, TRUSTING)

    assert_equal [200, 200, 429], from(server, "192.0.2.1", "192.0.2.1", "192.0.2.1")
    assert_equal [200, 429], from(server, "192.0.2.2", "192.0.2.2, 192.0.2.1"), "what the client itself wrote"
    assert_equal [200, 200, 429, 200], from(server, "2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1")
  end

  def test_a_proxy_header_names_the_client
    server = limited(MINUTE, args: %w[-b tcp://127.0.0.1:0?proxy_protocol=true])
    statuses = %w[192.0.2.1 192.0.2.1 192.0.2.1 192.0.2.2].map do |client|
      server.connect(server.urls.last).write("PROXY TCP4 #{client} 198.51.100.2 4711 80\r\n").get.status
    end
    assert_equal [200, 200, 429, 200], statuses
  end

  def test_nobody_else_names_clients
    [nil, 'trusted_proxies "192.0.2.0/24"'].each do |trusted|
      server = limited(MINUTE, *trusted)
      assert_equal [200, 200, 429], from(server, "192.0.2.1", "192.0.2.2", "192.0.2.3"), trusted.inspect
    end
  end

  def test_a_client_without_an_address_has_no_limit
    server = limited(MINUTE, args: %w[-b unix://app.sock])
    statuses = Array.new(3) { server.connect(server.urls.last).get.status }
    named = Array.new(3) { server.connect(server.urls.last).get("/", fields: { "X-Forwarded-For" => "::1" }).status }
    assert_equal [[200] * 3, [200, 200, 429]], [statuses, named]
  end

  def test_the_body_of_a_refused_request_is_not_read
    server = limited(MINUTE)
    2.times { server.get }
    asking = ask(server, "POST", "/", fields: { "Expect" => "100-continue", "Content-Length" => "5000000" })
    refused = asking.read_response

    assert_equal [429, "close"], [refused.status, refused["connection"]]
    assert_includes 1..30, Integer(refused["retry-after"])
    assert_predicate asking.tap { |client| client.socket.close_write }, :closed_by_peer?
  end

  def test_requests_of_an_http_2_connection_count_and_the_connection_stays
    server = limited(MINUTE, 'readiness_path "/up"')
    client = Support::Http2Client.new(server.connect).take_settings
    statuses = %w[/ /a /b /up].each_with_index.map do |path, index|
      stream = 2 * index + 1
      client.write(client.request(stream, path:)).await(:headers, stream:).status
    end
    assert_equal [200, 200, 429, 200], statuses
  ensure
    client&.reset
  end

  def test_checks_of_load_balancers_do_not_count
    server = limited(MINUTE, 'readiness_path "/up"')
    assert_equal([200] * 4, Array.new(4) { server.get("/up").status })
    assert_equal([200, 200, 429], Array.new(3) { server.get.status })
  end

  def test_only_the_request_that_opens_a_socket_counts
    server = limited(MINUTE)
    server.get
    client = ask(server, "GET", "/", fields: UPGRADE)
    assert_equal 101, client.read_response.status
    2.times { assert_equal "hello", client.write("hello").read_exactly(5) }
    assert_equal 429, ask(server, "GET", "/", fields: UPGRADE).read_response.status
  end

  def test_the_server_says_what_it_has_refused_also_after_a_restart
    server = limited(MINUTE, 'metrics "tcp://127.0.0.1:0"', "access_log true")
    4.times { server.get }
    await_log(server, /warn clients exceed rate_limit refused=[12] latest=127\.0\.0\.1/)
    await_log(server, %r{^127\.0\.0\.1 .*"GET / HTTP/1.1" 429 })
    assert_equal 0, carat(server, "restart").last
    assert_equal 429, server.get.status
    assert_includes carat(server, "status").first, "rate limit: 1 client, 3 requests refused"
    port = await_log(server, %r{ info metrics address=tcp://127.0.0.1:(\d+)})[1]
    metrics = Net::HTTP.get("127.0.0.1", "/metrics", Integer(port))
    assert_match(/^carat_rate_limit_refused_total 3$/, metrics)
    assert_match(/^carat_rate_limit_clients 1$/, metrics)
  end

  def test_a_browser_gets_the_page_for_429
    server = limited(MINUTE, 'error_pages "."', files: { "429.html" => "<p>slowly" })
    2.times { server.get }
    page = server.get("/", fields: { "Accept" => "text/html" })
    assert_equal [429, "<p>slowly"], [page.status, page.body]
    assert page["retry-after"]
  end

  private

  def limited(rate, *lines, files: {}, args: [])
    server = serve(CODE, workers: 1, threads: 1, files: { "carat.rb" => lines.join("\n"), **files },
                         args: [*CONTROL_SOCKET, "--rate-limit", rate, *args])
    await_workers(server, 1)
    server
  end

  # The statuses of one request for each value of X-Forwarded-For.
  def from(server, *clients)
    clients.map { |client| server.get("/", fields: { "X-Forwarded-For" => client }).status }
  end
end
