# frozen_string_literal: true

require "json"
require "test_helper"

# A listener whose connections begin with a PROXY header, as HAProxy and nginx send it.
class ProxyProtocolTest < Support::SharedServerTest
  APP = <<~'RUBY'
    require "json"
    run ->(env) { [200, {}, [JSON.generate(env.select { |_, value| value.is_a?(String) })]] }
  RUBY
  SIGNATURE = "\r\n\r\n\0\r\nQUIT\n".b.freeze
  CLIENT = %w[REMOTE_ADDR rack.url_scheme SERVER_PORT].freeze
  ADDRESSES = [192, 0, 2, 1, 198, 51, 100, 2, 4711, 443].pack("C8n2").freeze
  TLS = [0x20, 5, 1, 0].pack("CnCN").freeze

  serves APP, binds: ["tcp://127.0.0.1:0?proxy_protocol=true"], args: %w[--access-log --header-timeout 2]

  def test_version_1_names_the_client
    assert_equal ["192.0.2.1", "http", "443"], seen("PROXY TCP4 192.0.2.1 198.51.100.2 4711 443\r\n")
    assert_equal ["2001:db8::1", "http", "80"], seen("PROXY TCP6 2001:db8::1 ::1 4711 80\r\n")
    await_log(server, /^192\.0\.2\.1 - - /)
  end

  def test_version_2_names_the_client_and_its_scheme
    assert_equal ["192.0.2.1", "http", "443"], seen(version2(0x21, 0x11, ADDRESSES))
    assert_equal ["192.0.2.1", "https", "443"], seen(version2(0x21, 0x11, ADDRESSES + TLS))
  end

  def test_a_health_check_of_the_proxy_has_its_own_address
    own = ["127.0.0.1", "http", server.port.to_s]
    assert_equal own, seen("PROXY UNKNOWN\r\n")
    assert_equal own, seen(version2(0x20, 0x00, ""))
  end

  def test_a_second_header_is_a_malformed_request
    client = connect.write("PROXY UNKNOWN\r\nPROXY UNKNOWN\r\n\r\n")
    assert_equal 400, client.read_response.status
  end

  def test_what_is_no_header_is_refused_and_logged
    { "GET / HTTP/1.1\r\nHost: a\r\n\r\n" => "the connection does not begin with one",
      "PROXY TCP4 1.2.3 4.5.6.7 1 2\r\n" => "its line is malformed",
      version2(0x2f, 0x11, ADDRESSES) => "its version or command is unknown",
      version2(0x21, 0x11, "abc") => "it is shorter than its addresses" }.each do |bytes, reason|
      client = connect.write(bytes)
      assert_equal "", client.read_to_end
      await_log(server, /warn PROXY header refused peer="?127\.0\.0\.1"? reason="#{reason}"/)
    end
  end

  def test_a_connection_that_ends_or_stalls_within_the_header_is_logged
    connect.write("PROXY TC").close_write
    await_log(server, /PROXY header refused .*the connection ended within it/)
    stalled = connect.write(SIGNATURE)
    assert_equal "", stalled.read_to_end
    await_log(server, /PROXY header refused .*it did not arrive in time/)
  end

  def test_a_connection_without_a_byte_is_closed_without_a_word
    connect.close
    seen("PROXY UNKNOWN\r\n")
    refute_includes log, "refused"
  end

  def test_unfinished_headers_are_refused_when_client_memory_is_used_up
    crowded = serve(APP, workers: 1, threads: 1, binds: ["tcp://127.0.0.1:0?proxy_protocol=true"],
                         args: %w[--client-memory 1MB])
    unfinished = version2(0x21, 0x11, ADDRESSES + ("\0" * 4000))[0...-1]
    clients = Array.new(300) { crowded.connect.write(unfinished) }
    await_log(crowded, /PROXY header refused .*client_memory is used up/)
    clients.each(&:close)
    assert_equal ["192.0.2.1", "http", "443"], seen(version2(0x21, 0x11, ADDRESSES), crowded)
  end

  private

  def version2(command, family, payload)
    SIGNATURE + [command, family, payload.bytesize].pack("CCn") + payload
  end

  # What the application sees of the client that sends `header` and a request without a host.
  def seen(header, server = self.server)
    client = server.connect.write("#{header.b}GET / HTTP/1.0\r\n\r\n".b)
    JSON.parse(client.read_response.body).values_at(*CLIENT)
  ensure
    client&.close
  end
end
