# frozen_string_literal: true

require "socket"
require_relative "../lab_error"

module Carat
  module Lab
    module Leak
      # A kept-alive HTTP/1.1 connection to a Unix socket: sends GET requests, one at a time.
      class Connection
        # Seconds without a byte of the response.
        REPLY_TIMEOUT = 90

        # Bytes of response headers.
        HEADERS_LIMIT = 256 * 1024

        # Bytes of a body that are kept; the rest is skipped.
        BODY_LIMIT = 8 * 1024 * 1024
        CHUNK = 64 * 1024
        BODILESS = [204, 304].freeze
        private_constant :CHUNK, :BODILESS

        # `path` is that of the socket.
        def initialize(path)
          @path = path
          @buffer = String.new(capacity: CHUNK)
        end

        # Sends a request for `target`.
        def send(target)
          connect unless @io
          @target = target
          @io.write("GET #{target} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: carat-leak\r\nAccept: */*\r\n\r\n")
        rescue SystemCallError => e
          raise LabError, "carat: the server ended while it was measured: #{e.message}"
        end

        # Reads the response to that, and returns its status and body. Raises LabError.
        def receive
          headers = read_headers
          status = Integer(headers[9, 3], 10)
          body = read_body(status, headers)
          close if headers.match?(/^connection: *close\r/i)
          [status, body]
        rescue SystemCallError, EOFError, ArgumentError => e
          raise LabError, "carat: GET #{@target}: no complete response: #{e.message}"
        end

        # Closes the connection; the next request opens another.
        def close
          @io&.close
          @io = nil
          @buffer.clear
        end

        private

        def connect
          @io = UNIXSocket.new(@path)
        end

        def read_headers
          fill until (size = @buffer.index("\r\n\r\n")) || @buffer.bytesize > HEADERS_LIMIT
          raise LabError, "carat: GET #{@target}: the response headers are too large" unless size

          @buffer.slice!(0, size + 4)
        end

        def read_body(status, headers)
          return "" if BODILESS.include?(status)
          return read_chunks if headers.match?(/^transfer-encoding: *chunked\r/i)

          length = headers[/^content-length: *(\d+)\r/i, 1]
          length ? take(Integer(length, 10), String.new) : read_rest
        end

        def read_chunks
          body = String.new
          until (size = Integer(line[/\A\h+/].to_s, 16)).zero?
            take(size, body)
            line
          end
          line
          body
        end

        # Without a length, the body ends with the connection.
        def read_rest
          body = String.new
          loop { take([@buffer.bytesize, 1].max, body) }
        rescue EOFError
          close
          body
        end

        def line
          fill until (size = @buffer.index("\r\n")) || @buffer.bytesize > HEADERS_LIMIT
          raise EOFError, "a line does not end" unless size

          @buffer.slice!(0, size + 2).chomp
        end

        # Moves `size` bytes to `body`, as far as it keeps them.
        def take(size, body)
          while size.positive?
            fill if @buffer.empty?
            part = @buffer.slice!(0, size)
            size -= part.bytesize
            body << part if body.bytesize < BODY_LIMIT
          end
          body
        end

        def fill
          case part = @io.read_nonblock(CHUNK, exception: false)
          when :wait_readable
            @io.wait_readable(REPLY_TIMEOUT) or raise EOFError, "nothing for #{REPLY_TIMEOUT} s"
          when nil then raise EOFError, "the server closed the connection"
          else @buffer << part
          end
        end
      end
    end
  end
end
