# frozen_string_literal: true

require "minitest/autorun"
require "socket"
require "tmpdir"
require "carat/lab/leak/connection"

module Carat
  # The client of `carat leak`, against responses of all framings.
  class ConnectionTest < Minitest::Test
    def test_response_with_a_length_leaves_the_next_one_alone
      responses = ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
                   "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"]

      assert_equal [[200, "hello"], [404, ""]], exchange(responses)
    end

    def test_chunked_response_is_joined
      chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=1\r\nde\r\n0\r\n\r\n"

      assert_equal [[200, "abcde"], [200, "abcde"]], exchange([chunked, chunked])
    end

    def test_response_without_a_body_ends_with_its_headers
      assert_equal [[204, ""], [304, ""]],
                   exchange(["HTTP/1.1 204 No Content\r\n\r\n",
                             "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"])
    end

    def test_closed_connection_is_opened_again
      closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"

      assert_equal [[200, "hi"], [200, "hi"]], exchange([closing, closing], connections: 2)
    end

    def test_incomplete_response_is_one_clear_sentence
      error = assert_raises(Lab::LabError) { exchange(["HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello"]) }

      assert_equal "carat: GET /0: no complete response: the server closed the connection", error.message
    end

    def test_response_headers_have_a_limit
      endless = "HTTP/1.1 200 OK\r\nX: #{"x" * Lab::Leak::Connection::HEADERS_LIMIT}"

      assert_match(/headers are too large/, assert_raises(Lab::LabError) { exchange([endless]) }.message)
    end

    private

    # What the client makes of the responses, each to a request of its own.
    def exchange(responses, connections: 1)
      Dir.mktmpdir do |directory|
        path = File.join(directory, "socket")
        UNIXServer.open(path) do |server|
          serving = Thread.new { respond(server, responses.each_slice(responses.size / connections)) }
          connection = Lab::Leak::Connection.new(path)
          responses.each_index.map { |index| ask(connection, index) }
        ensure
          connection&.close
          serving.join
        end
      end
    end

    def ask(connection, index)
      connection.send("/#{index}")
      connection.receive
    end

    def respond(server, connections)
      connections.each do |responses|
        socket = server.accept
        responses.each do |response|
          socket.gets("\r\n\r\n")
          socket.write(response)
        end
        socket.close
      end
    rescue Errno::EPIPE
      nil # the client has had enough
    end
  end
end
