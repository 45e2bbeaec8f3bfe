# frozen_string_literal: true

require_relative "probe"
require_relative "shared_server_test"

module Support
  # Tests against Probe::APP of requests that must not reach it.
  #
  #   class RefusalsTest < Support::Refusals
  #     serves Support::Probe::APP
  #     refuses "a_head_of_line_feeds", "GET / HTTP/1.1\nHost: a\n\n"
  #   end
  class Refusals < SharedServerTest
    # Declares the test that these bytes are refused.
    def self.refuses(name, bytes, status: 400)
      define_method("test_#{name}_is_refused") { assert_refused(status, bytes) }
    end

    private

    # All bytes are sent before the response is read. They get one response with this status, then the connection is
    # closed, and nothing reaches the application.
    def assert_refused(status, bytes)
      seen = log
      client = connect.write(bytes)
      response = client.read_response

      assert_equal [status, "close"], [response.status, response["connection"]], response.body
      assert_closed client
      assert_equal "/after", server.get("/after").body
      # The edge may write a line about the test before this one meanwhile.
      assert_equal [Probe.line("GET", "/after")], log.delete_prefix(seen).lines.grep(/\Aapp saw /)
    end
  end
end
