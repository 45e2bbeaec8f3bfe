# frozen_string_literal: true

require "json"
require "test_helper"

# Inputs of public suites, from the folder that CARAT_CONFORMANCE names, or ../shared/conformance. They are not part of
# Carat.
class ConformanceTest < Support::SharedServerTest
  DATA = ENV.fetch("CARAT_CONFORMANCE", File.expand_path("../../../shared/conformance", __dir__))
  LAST = "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".b
  ANSWERED = %r{^HTTP/1\.[01] (\d{3}) }n
  # How many requests of a case are served, where that differs from llhttp's count.
  OTHERS = {
    # Nothing becomes a tunnel unless the application takes the connection.
    "connection.md:713" => 2,
    # Methods that llhttp does not know are the application's.
    "invalid.md:66" => 1, "invalid.md:356" => 2,
    # A server that is no proxy opens no tunnel by CONNECT; `*` is for OPTIONS alone.
    "method.md:27" => 0, "method.md:62" => 0, "method.md:96" => 0, "uri.md:188" => 0, "method.md:135" => 0,
    # ICE, RTSP, and HTTP/0.9.
    "method.md:372" => 0, "method.md:400" => 0, "method.md:430" => 0, "sample.md:314" => 0,
    # Bytes that no target may have: a quote, a fragment, user information (RFC 3986; RFC 9110, section 4.2.4).
    "transfer-encoding.md:751" => 0, "transfer-encoding.md:793" => 0, "uri.md:4" => 0, "uri.md:165" => 0,
    "uri.md:222" => 0
  }.freeze

  serves 'run ->(env) { env["rack.input"]&.read; [200, {}, []] }', args: %w[--header-timeout 2]

  def test_streams_of_http_garden_mean_the_same_alone_before_a_request_and_byte_by_byte
    cases("http_garden_cases.json").each do |each|
      sent = [each.fetch("sent")].pack("H*")
      next if sent.start_with?("PRI * HTTP/2.0") # Refused in either protocol.

      stream = sent + LAST
      whole, pieces = [[stream], stream.chars].map { |parts| statuses(parts) }
      alone = statuses([sent], ends: true) - ["408"] # Without the request behind it, a stream may not be complete.

      assert_equal whole, pieces, each.values_at("id", "title").join(": ")
      assert_equal whole.take(alone.size), alone, each.values_at("id", "title").join(": ")
    end
  end

  def test_requests_of_llhttp_are_served_or_refused_as_llhttp_does
    cases("llhttp_cases.json").each do |each|
      verdict = each.fetch("strict")
      accepted = %w[HPE_OK HPE_PAUSED_UPGRADE].include?(verdict.fetch("errno"))
      count = OTHERS.fetch(each.fetch("id")) { verdict.fetch("messages").size }
      next if accepted && count.zero? && !OTHERS.key?(each.fetch("id")) # It is not complete.

      stream = [each.fetch("hosted")].pack("H*")
      served = accepted ? statuses([stream], until_count: [count, 1].max) : statuses([stream, LAST])
      assert_equal count, served.count("200"), "#{each.values_at("id", "name").join(": ")}: #{served}"
    end
  end

  private

  def cases(name)
    path = File.join(DATA, name)
    skip("there is no #{name}; CARAT_CONFORMANCE names its folder") unless File.file?(path)
    JSON.parse(File.read(path))
  end

  # Sends the parts, as long as the server does not close, and maybe the end of the stream. Returns the statuses of all
  # responses or of so many.
  def statuses(parts, until_count: nil, ends: false)
    client = connect
    parts.each { |part| client.write(part) }
    client.close_write if ends
    received = +"".b
    received << client.read_through("\r\n\r\n") while until_count && received.scan(ANSWERED).size < until_count
    received << client.read_to_end unless until_count
    received.scan(ANSWERED).flatten
  rescue Errno::EPIPE, Errno::ECONNRESET
    client.read_to_end.scan(ANSWERED).flatten
  ensure
    client&.close
  end
end
