# frozen_string_literal: true

require "io/wait"
require "socket"
require_relative "control_error"

module Carat
  module CLI
    # Sends requests to the control socket of a running server.
    class ControlClient
      # The server gives its processes a second to respond.
      DEADLINE_SECONDS = 10
      CHUNK = 65_536
      # Maximum size of a response, far above what a server with a thousand workers sends.
      RESPONSE_LIMIT = 16 * 1024 * 1024
      private_constant :CHUNK, :RESPONSE_LIMIT

      # `path` is the path of the socket, `deadline` a number of seconds.
      def initialize(path, deadline: DEADLINE_SECONDS)
        @path = path
        @deadline = deadline
      end

      # Returns the body of the response to a GET. Raises ControlError when there is none.
      def get(target)
        head, body = ask("GET #{target} HTTP/1.1\r\nHost: carat\r\nConnection: close\r\n\r\n").split("\r\n\r\n", 2)
        return body.force_encoding(Encoding::UTF_8) if head&.match?(%r{\AHTTP/1\.1 200 })

        fail_with(head ? "it responds with #{head[0, 100].lines.first.to_s.strip.dump}" : "it does not respond")
      end

      private

      def ask(request)
        UNIXSocket.open(@path) do |socket|
          check_peer(socket)
          socket.write(request)
          read(socket, now + @deadline)
        end
      rescue Errno::ENOENT, Errno::ECONNREFUSED
        fail_with("no server listens there")
      rescue Errno::EACCES, Errno::EPERM
        fail_with("permission denied: only the server's user and root may ask")
      rescue SystemCallError, ArgumentError => e # ArgumentError: the path is too long
        fail_with(e.message)
      end

      # Any user can create a socket and send anything on it: only servers of the same user and of root are trusted.
      # Root may ask every server.
      def check_peer(socket)
        uid, = socket.getpeereid
        return if [uid, Process.euid].include?(0) || uid == Process.euid

        fail_with("a process of another user (uid #{uid}) listens there")
      end

      def read(socket, deadline)
        response = String.new
        while socket.wait_readable([deadline - now, 0].max)
          chunk = socket.read_nonblock(CHUNK, exception: false) or return response
          response << chunk unless chunk == :wait_readable
          fail_with("it sends more than #{RESPONSE_LIMIT} bytes") if response.bytesize > RESPONSE_LIMIT
        end
        fail_with("no response within #{@deadline} s")
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      def fail_with(reason)
        raise ControlError, "carat: #{@path}: #{reason}"
      end
    end
  end
end
