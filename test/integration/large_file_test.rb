# frozen_string_literal: true

require "test_helper"

# Large files, which the kernel sends: a response is the same as if the edge had read them.
class LargeFileTest < Support::SharedServerTest
  CONTENT = Random.new(14).bytes(1_500_000).freeze
  # The kernel takes little at once for a client with so small a buffer.
  RECEIVE_BUFFER = 16 * 1024

  APP = <<~'RUBY'
    Named = Struct.new(:to_path)
    run ->(env) { [200, {}, env["PATH_INFO"] == "/named" ? Named.new("public/large.bin") : [env["PATH_INFO"]]] }
  RUBY

  serves APP, config: %(static "public"\nlog_format "json"\naccess_log true\n),
              binds: ["tcp://127.0.0.1:0", "unix://carat.sock"], files: { "public/large.bin" => CONTENT }

  def test_responses_to_pipelined_requests_are_complete_and_in_order
    targets = %w[/large.bin /one /named /large.bin /two /named]
    [tcp, unix].each do |client|
      client.write(targets.map { |target| request(target) }.join)
      targets.each { |target| assert_body target, client.read_response }
    end
  end

  def test_a_client_that_takes_little_at_a_time_gets_every_byte
    @clients << client = connect_narrowly(server, receive_buffer: RECEIVE_BUFFER)

    2.times { assert_equal CONTENT, client.get("/large.bin").body }
    assert_equal "/next", client.get("/next").body
  end

  def test_ranges_and_head_and_http_1_0
    client = tcp
    part = client.get("/large.bin", fields: { "Range" => "bytes=70001-900000" })
    client.request("HEAD", "/large.bin")
    head = client.read_response(head: true)

    assert_equal [206, CONTENT[70_001..900_000]], [part.status, part.body]
    assert_equal CONTENT.bytesize.to_s, head["content-length"]
    assert_equal CONTENT[-800_000..], client.get("/named", fields: { "Range" => "bytes=-800000" }).body
    old = tcp.write("GET /large.bin HTTP/1.0\r\nHost: a\r\n\r\n").read_to_end
    assert old.end_with?("\r\n\r\n#{CONTENT}"), "#{old.bytesize} bytes"
  end

  def test_the_access_log_counts_the_bytes
    tcp.get("/large.bin?counted")

    await_log(server, /"bytes":#{CONTENT.bytesize},.*"target":"[^"]*counted"/)
  end

  def test_a_client_that_leaves_leaves_nothing_behind
    server.get("/large.bin")
    before = descriptors
    clients = Array.new(5) { tcp }
    clients.each { |client| client.request("GET", "/large.bin") }
    clients.each { |client| client.read_exactly(10) }
    clients.each(&:reset)

    eventually { assert_operator descriptors, :<=, before }
    assert_equal "/next", server.get("/next").body
  end

  private

  def tcp = connect

  def unix
    @clients << client = Support::RawClient.unix(File.join(server.directory.path, "carat.sock"))
    client
  end

  def request(target)
    "GET #{target} HTTP/1.1\r\nHost: a\r\n\r\n"
  end

  def assert_body(target, response)
    assert_equal 200, response.status
    large = target.match?(/large|named/)
    assert_equal(large ? CONTENT : target, response.body)
  end
end
