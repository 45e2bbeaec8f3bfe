# frozen_string_literal: true

require "test_helper"
require "carat/config/options"
require_relative "../../script/suite/named_limits"

# Each limit of the option table, and each constant that has no test of its own: what is at its bound is served, and
# what is one beyond gets the answer of the table. A limit without a driver fails.
class LimitsTest < Support::IntegrationTest
  # What another test drives, by option.
  ELSEWHERE = { upgrade_timeout: "upgrade", pool: "pools", max_tunnels: "tunnel", request_timeout: "process_timeout",
                queue_limit: "process_queue", queue_timeout: "process_queue", shutdown_timeout: "process_stop",
                handshake_timeout: "tls", header_timeout: "http_timeouts", idle_timeout: "http_timeouts",
                body_min_rate: "http_body_rate", write_timeout: "http_write_timeout",
                write_min_rate: "http_write_timeout", client_memory: "client_memory",
                rate_limit: "rate_limit" }.freeze
  OPTIONS = Carat.const_get(:Config)::Options.select(&:limit).to_h { |option| [option.name, option.limit] }
                 .except(*ELSEWHERE.keys).freeze
  CONSTANTS = Suite::NamedLimits::TABLE.reject(&:test).to_h { |limit| [limit.name, limit.answer] }.freeze
  APP = <<~'RUBY'
    run(lambda do |env|
      count = env["QUERY_STRING"].to_i
      env["rack.input"]&.read
      case env["PATH_INFO"]
      when "/headers" then [200, { "content-length" => "1", **Array.new(count - 1) { |n| ["x-#{n}", "y"] }.to_h }, ["x"]]
      when "/name" then [200, { "x" * count => "y" }, []]
      else [200, {}, []]
      end
    end)
  RUBY

  OPTIONS.merge(CONSTANTS).each do |name, answer|
    define_method("test_#{name.downcase}_holds_at_its_bound_and_ends_beyond_it") do
      driver = name.downcase
      requests = Support::LimitRequests::TABLE[driver.to_sym]
      requests ? drive_bytes(*requests, answer) : send("drive_#{driver}")
    end
  end

  def test_what_another_test_drives_is_there
    ELSEWHERE.each do |option, name|
      assert_match(/\b#{option.to_s.tr("_", "-")}\b/, File.read("#{__dir__}/#{name}_test.rb"))
    end
  end

  private

  def drive_bytes(args, request, answer)
    server = serve_with(*args)

    assert_equal([200, answer], [0, 1].map { |extra| status(server, request.call(extra)) })
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

  # Each client asks again at once, so that there are always more requests than may begin within 16 times the delay.
  def drive_queue_delay
    server = serve("run ->(_) { sleep(0.002); [200, {}, []] }", threads: 1, args: %w[--queue-delay 0.01])
    request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    clients = Array.new(200) { server.connect.write(request) }
    eventually { clients.map { |client| client.read_response.status.tap { client.write(request) } }.include?(503) }

    clients.each(&:close)
    eventually { server.get.status == 200 }
  end

  def serve_with(*args)
    serve(APP, threads: 2, args: ["--access-log", *args.map(&:to_s)])
  end
end
