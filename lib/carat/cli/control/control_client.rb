# frozen_string_literal: true

require "io/wait"
require "json"
require "socket"
require_relative "../command_error"
require_relative "../printable"

module Carat
  module CLI
    # Sends requests to the control socket of a running server.
    class ControlClient
      # The seconds that a response may take. The server itself waits for its processes for one second only.
      DEADLINE_SECONDS = 10
      CHUNK = 65_536
      # Maximum size of a response, far above what a server with a thousand workers sends.
      RESPONSE_LIMIT = 16 * 1024 * 1024
      REFUSAL = %r{\AHTTP/1\.1 (409|503) .*^content-type: application/json\r?$}im
      STATUS = %r{\AHTTP/1\.1 (\d{3}) }
      SWITCHING = "HTTP/1.1 101 "
      ALLOWED = "only the server's user and root may ask"
      private_constant :ALLOWED, :CHUNK, :REFUSAL, :STATUS, :SWITCHING, :RESPONSE_LIMIT

      # `path` is the path of the socket, `deadline` a number of seconds.
      def initialize(path, deadline: DEADLINE_SECONDS)
        @path = path
        @deadline = deadline
        @answered = false
      end

      # Returns the body of the response to a GET. Raises ControlError when there is none.
      def get(target)
        request("GET", target)
      end

      # Returns the body of the response to a POST. Raises ControlError when there is no response, or when the server
      # refuses; then the message is the server's reason.
      def post(target, body = "")
        request("POST", target, body)
      end

      # Yields the socket once the server has agreed to speak `protocol` on it. Raises ControlError, with the server's
      # reason, when it does not agree.
      def upgrade(target, protocol)
        connect do |socket|
          socket.write("POST #{target} HTTP/1.1\r\nHost: carat\r\nConnection: upgrade\r\n" \
                       "Upgrade: #{protocol}\r\nContent-Length: 0\r\n\r\n")
          head, body = read(socket, now + @deadline, until_head: true).split("\r\n\r\n", 2)
          @answered = !head.nil?
          return yield(socket) if head&.start_with?(SWITCHING)

          check(head, body)
        end
      end

      # Whether the server has responded to `upgrade`, also with a refusal.
      def answered?
        @answered
      end

      private

      def request(verb, target, content = nil)
        head, body = ask("#{verb} #{target} HTTP/1.1\r\nHost: carat\r\nConnection: close\r\n" \
                         "#{"Content-Length: #{content.bytesize}\r\n" if content}\r\n".b + content.to_s.b)
                     .split("\r\n\r\n", 2)
        return body.force_encoding(Encoding::UTF_8) if head&.match?(%r{\AHTTP/1\.1 200 })

        check(head, body)
      end

      # Raises ControlError with the message of a response that reports a failure.
      def check(head, body)
        fail_with("it does not respond") unless head
        refuse(body) if head.match?(REFUSAL)
        fail_with("it responds with #{head[0, 100].lines.first.to_s.strip.dump}", status: head[STATUS, 1]&.to_i)
      end

      # Raises ControlError with the reason that the server gives in JSON.
      def refuse(body)
        reason = JSON.parse(body)["error"]
        raise ControlError, "carat: #{Printable.text(reason)}" if reason.is_a?(String)
      rescue JSON::ParserError, TypeError
        fail_with("it refuses without a reason")
      end

      def ask(request)
        connect do |socket|
          socket.write(request)
          read(socket, now + @deadline)
        end
      end

      def connect
        # Ignored SIGPIPE makes a closed connection the error EPIPE, which has a message, rather than the end of this
        # process.
        before = trap("PIPE", "IGNORE")
        socket = open_socket
        check_peer(socket)
        yield socket
      rescue Errno::EAGAIN
        fail_with("too many clients wait for it: the server does not respond")
      rescue Errno::ENOENT, Errno::ECONNREFUSED
        fail_with("no server listens there")
      rescue Errno::EACCES, Errno::EPERM
        fail_with("permission denied: #{ALLOWED}")
      rescue Errno::EPIPE, Errno::ECONNRESET
        fail_with("the server has closed the connection: #{ALLOWED}")
      rescue SystemCallError, ArgumentError => e # ArgumentError: the path is too long
        fail_with(e.message)
      ensure
        socket&.close
        trap("PIPE", before || "DEFAULT")
      end

      # Connects without waiting: a blocking connect to a server that stands still and has a full backlog would never
      # return.
      def open_socket
        socket = Socket.new(:UNIX, :STREAM)
        socket.connect_nonblock(Addrinfo.unix(@path))
        socket.autoclose = false
        UNIXSocket.for_fd(socket.fileno)
      rescue StandardError
        socket&.close
        raise
      end

      # Raises ControlError unless the server is of this user or of root: any user can create a socket and send anything
      # on it. Root may ask every server.
      def check_peer(socket)
        uid, = socket.getpeereid
        return if [uid, Process.euid].include?(0) || uid == Process.euid

        fail_with("a process of another user (uid #{uid}) listens there")
      end

      # Returns what the server sends until it closes the connection. With `until_head`, returns at the end of the head
      # of a response that switches protocols: what follows is of the other protocol.
      def read(socket, deadline, until_head: false)
        response = String.new
        while socket.wait_readable([deadline - now, 0].max)
          chunk = socket.read_nonblock(CHUNK, exception: false) or return response
          response << chunk unless chunk == :wait_readable
          return response if until_head && response.start_with?(SWITCHING) && response.end_with?("\r\n\r\n")

          fail_with("it sends more than #{RESPONSE_LIMIT} bytes") if response.bytesize > RESPONSE_LIMIT
        end
        fail_with("no response within #{@deadline} s")
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      def fail_with(reason, status: nil)
        raise ControlError.new("carat: #{@path}: #{reason}", status:)
      end
    end
  end
end
