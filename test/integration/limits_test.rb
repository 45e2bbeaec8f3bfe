# frozen_string_literal: true

require "test_helper"
require "carat/config/options"
require "support/limit_requests"
require "support/test_certificate"
require "support/tls_client"
require_relative "../../script/suite/named_limits"

# Each limit of the option table, and each constant that has no test of its own: what is at its bound is served, and
# what is one beyond gets the answer of the table. A limit without a driver fails.
class LimitsTest < Support::IntegrationTest
  # Driven by upgrade_test.rb, which ends both edges, and by pools_test.rb.
  ELSEWHERE = %i[upgrade_timeout pool].freeze
  OPTIONS = Carat.const_get(:Config)::Options.select(&:limit).to_h { |option| [option.name, option.limit] }
                 .except(*ELSEWHERE).freeze
  CONSTANTS = Suite::NamedLimits::TABLE.reject(&:test).to_h { |limit| [limit.name, limit.answer] }.freeze
  SECONDS = 1
  LARGE = 40 * 1024 * 1024
  APP = <<~'RUBY'
    run(lambda do |env|
      count = env["QUERY_STRING"].to_i
      sleep if env["PATH_INFO"] == "/never"
      env["rack.input"]&.read
      case env["PATH_INFO"]
      when "/headers" then [200, { "content-length" => "1", **Array.new(count - 1) { |n| ["x-#{n}", "y"] }.to_h }, ["x"]]
      when "/tunnel" then [200, { "rack.hijack" => ->(io) { Thread.new { io.read && io.close } } }, []]
      when "/name" then [200, { "x" * count => "y" }, []]
      when "/large" then [200, {}, ["x" * count]]
      else [200, {}, []]
      end
    end)
  RUBY

  OPTIONS.merge(CONSTANTS).each do |name, answer|
    define_method("test_#{name.downcase}_holds_at_its_bound_and_ends_beyond_it") do
      driver = name.downcase
      Support::LimitRequests.respond_to?(driver) ? drive_bytes(driver, answer) : send("drive_#{driver}")
    end
  end

  private

  def drive_bytes(name, answer)
    statuses = [0, 1].map do |extra|
      args, bytes = Support::LimitRequests.public_send(name, extra)
      status(serve_with(*args), bytes)
    end

    assert_equal [200, answer], statuses
  end

  def drive_max_connections
    server = serve_with("--max-connections", "2")
    first, second = Array.new(2) { server.connect }
    assert_equal([200, 200], [first, second].map { |client| client.get.status })
    third = ask(server, "GET", "/")
    assert_equal([200, 200], [first, second].map { |client| client.get.status })
    assert_nil third.socket.wait_readable(0)
    first.close

    assert_equal 200, third.read_response.status
  end

  def drive_max_tunnels
    server = serve_with("--max-tunnels", "1")
    starts = Array.new(2) { ask(server, "GET", "/tunnel").read_exactly("HTTP/1.1 200".bytesize) }

    assert_equal ["HTTP/1.1 200", "HTTP/1.1 503"], starts
  end

  def drive_request_timeout
    server = serve_with("--request-timeout", SECONDS.to_s)

    assert_equal [200, 504], [server.get.status, server.get("/never").status]
  end

  def drive_queue_limit
    server, waiting = fill("--queue-limit", "1")

    assert_equal 503, server.get.status
    server.gate.open
    assert_equal 200, waiting.read_response.status
  end

  # Each client asks again at once, so that there are always more requests than may begin within the delay.
  def drive_queue_delay
    server = serve("run ->(_) { sleep(0.002); [200, {}, []] }", threads: 1, args: %w[--queue-delay 0.01])
    request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    clients = Array.new(60) { server.connect.write(request) }
    eventually { clients.map { |client| client.read_response.status.tap { client.write(request) } }.include?(503) }

    clients.each(&:close)
    eventually { server.get.status == 200 }
  end

  def drive_queue_timeout
    _server, waiting = fill("--queue-timeout", SECONDS.to_s)

    assert_equal 503, waiting.read_response.status
  end

  def drive_shutdown_timeout
    statuses = [60, SECONDS].map do |seconds|
      server = serve(Support::Gate::APP, args: ["--shutdown-timeout", seconds.to_s])
      client = ask(server, "GET", "/gate")
      await_arrivals(server, 1)
      server.kill(:TERM)
      await_log(server, /stopping/)
      server.gate.open if seconds > SECONDS
      client.read_response.status
    end

    assert_equal [200, 504], statuses
  end

  def drive_handshake_timeout
    files = Support::TestCertificate.new("localhost").files
    server = server(app: APP, binds: ["tls://127.0.0.1:0?cert=server.crt&key=server.key"], files: files,
                    args: ["--handshake-timeout", SECONDS.to_s]).start
    client = Support::TlsClient.connect(server, trust: OpenSSL::X509::Certificate.new(files.fetch("server.crt")))

    assert_equal 200, client.get.status
    assert_equal "", server.connect.write("\x16\x03\x01\x02\x00").read_to_end
  end

  def drive_header_timeout
    server = serve_with("--header-timeout", SECONDS.to_s)

    assert_equal [200, 408], [server.get.status, status(server, "GET / HTTP/1.1\r\n")]
  end

  def drive_idle_timeout
    client = serve_with("--idle-timeout", SECONDS.to_s).connect

    assert_equal([200, 200], Array.new(2) { client.get.status })
    assert_equal "", client.read_to_end
  end

  # The rate counts after ten seconds.
  def drive_body_min_rate
    server = serve_with("--body-min-rate", "1KB", "--inline-body-limit", "0")
    slow, steady = [1, 40_000].map do |sent|
      server.connect.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40001\r\n\r\n#{"x" * sent}")
    end

    assert_equal [408, 200], [slow.read_response.status, steady.write("x").read_response.status]
  end

  def drive_write_timeout
    server = serve_with("--write-timeout", SECONDS.to_s)
    idle = ask(server, "GET", "/large?#{LARGE}")

    assert_equal LARGE, server.get("/large?#{LARGE}").body.bytesize
    await_log(server, %r{/large\?#{LARGE} HTTP/1\.1" 200.*\n.*/large\?#{LARGE} HTTP/1\.1" 200})
    assert_operator idle.read_to_end.bytesize, :<, LARGE
    assert_predicate idle, :reset_by_peer?
  end

  # Each client takes 16 KiB until its request is complete.
  def drive_client_memory
    few, many = [20, 100].map do |count|
      server = serve_with("--client-memory", "1MB", "--header-timeout", "600")
      Array.new(count) { server.connect.write("G") }
    end
    first = eventually { many.find { |client| client.socket.wait_readable(0) } }

    assert_equal([200], few.map { |client| client.write("ET / HTTP/1.1\r\nHost: a\r\n\r\n").read_response.status }.uniq)
    assert_equal 503, first.read_response.status
  end

  # The rate counts after ten seconds.
  def drive_write_min_rate
    server = serve_with("--write-min-rate", "1GB")
    slow = ask(server, "GET", "/large?#{LARGE}")

    assert_equal LARGE, server.get("/large?#{LARGE}").body.bytesize
    assert_raises(EOFError) { eventually { slow.read_exactly(6 * 1024).nil? } }
  end

  def serve_with(*args)
    serve(APP, threads: 2, args: ["--access-log", *args.map(&:to_s)])
  end

  # A server whose only lane is busy and whose queue has one request, and the client of that one.
  def fill(*args)
    server = serve(Support::Gate::APP, threads: 1, args: args)
    ask(server, "GET", "/gate")
    await_arrivals(server, 1)
    waiting = ask(server, "GET", "/gate")
    see_edge_go_round(server)
    [server, waiting]
  end
end
