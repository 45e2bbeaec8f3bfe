# frozen_string_literal: true

require "socket"
require_relative "deadline_reader"
require_relative "raw_response"

module Support
  # A client that sends exactly the given bytes and reads what comes. Every step has a deadline in seconds.
  class RawClient
    WITHIN = Eventually::DEADLINE_SECONDS

    # Each write is sent at once, as a packet of its own.
    def self.tcp(host, port)
      socket = Socket.tcp(host, port, connect_timeout: WITHIN)
      socket.setsockopt(:TCP, :NODELAY, true)
      new(socket)
    end

    def self.unix(path)
      new(UNIXSocket.new(path))
    end

    attr_reader :socket

    def initialize(socket)
      @socket = socket
      @reader = DeadlineReader.new(socket)
    end

    # Sends all bytes unchanged, and returns self.
    # @raise [Eventually::TooLate] when the peer does not take them in time
    def write(bytes, within: WITHIN)
      deadline = Eventually.now + within
      rest = bytes.b
      until rest.empty?
        sent = @socket.write_nonblock(rest, exception: false)
        sent == :wait_writable ? wait_writable(deadline) : rest = rest.byteslice(sent..)
      end
      self
    end

    # Sends one well-formed request; Host and Content-Length are added unless given. A field may have several values.
    def request(verb, target = "/", fields: {}, body: nil)
      fields = { "Host" => "localhost" }.merge(fields)
      fields["Content-Length"] ||= body.bytesize if body && !fields.key?("Transfer-Encoding")
      lines = fields.flat_map { |name, values| Array(values).map { |value| "#{name}: #{value}\r\n" } }
      write("#{verb} #{target} HTTP/1.1\r\n#{lines.join}\r\n".b << body.to_s.b)
    end

    # Sends a GET and reads its response.
    def get(target = "/", fields: {})
      request("GET", target, fields: fields).read_response
    end

    # Reads one response, informational ones included; the body by chunks, by length, or until the end.
    # @param head [Boolean] the request was a HEAD, so no body follows
    # @raise [EOFError] when the connection ends first; [Eventually::TooLate] when time is up
    def read_response(head: false, within: WITHIN)
      deadline = Eventually.now + within
      response = RawResponse.parse(@reader.read_through("\r\n\r\n", deadline))
      response.body << read_body(response, deadline) unless head || response.bodyless?
      response
    end

    # Reads up to and including the mark.
    def read_through(mark, within: WITHIN)
      @reader.read_through(mark, Eventually.now + within)
    end

    # Reads exactly this many bytes.
    def read_exactly(bytes, within: WITHIN)
      @reader.read_exactly(bytes, Eventually.now + within)
    end

    # Reads until the peer closes or resets, and returns all bytes that were not read before.
    def read_to_end(within: WITHIN)
      @reader.read_to_end(Eventually.now + within)
    end

    # Whether the peer closes in time. Bytes that come first stay readable.
    def closed_by_peer?(within: WITHIN)
      @reader.reach_end(Eventually.now + within)
      true
    rescue Eventually::TooLate
      false
    end

    # Whether what has been read so far ended with a reset (RST) instead of an orderly end.
    def reset_by_peer?
      @reader.reset?
    end

    # Sends the end of the stream but keeps reading.
    def close_write
      @socket.close_write
      self
    end

    # Closes with a reset (RST) instead of an orderly end.
    def reset
      @socket.setsockopt(Socket::Option.linger(true, 0))
      @socket.close
    end

    def close
      @socket.close
    end

    private

    def read_body(response, deadline)
      return @reader.read_chunks(deadline) if response.chunked?
      return @reader.read_exactly(response.content_length, deadline) if response.content_length

      @reader.read_to_end(deadline)
    end

    def wait_writable(deadline)
      left = deadline - Eventually.now
      return if left.positive? && @socket.wait_writable(left)

      raise Eventually::TooLate, "the peer did not take the bytes in time"
    end
  end
end
