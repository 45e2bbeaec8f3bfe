# frozen_string_literal: true

require_relative "../native"
require_relative "body_writer"
require_relative "response_head"
require_relative "response_stream"
require_relative "spool"
require_relative "tunnel"

module Carat
  module Response
    # Sends a response in the cheapest way that its body allows, and closes the body. Native code sends simple responses
    # (a Hash of Strings and a small Array of Strings) without this class.
    class Delivery
      # The flags for opening a file to send. NONBLOCK, because a pipe may have replaced the file, and opening it must
      # not wait for its other end.
      FILE_FLAGS = File::RDONLY | File::NONBLOCK
      # The end of the message for an application that returns nil as body.
      NOTHING = "nil; a response is [status, headers, body], and an empty body is []"
      private_constant :NOTHING

      # `native` is a Native::Slot; `spool_dir` is the directory for large bodies.
      def initialize(native, spool_dir)
        @native = native
        @spool_dir = spool_dir
      end

      # Sends the response to the request of `env`. After a full hijack, the application's response is ignored. Raises
      # what the body raises, Native::InvalidResponse and Native::ClientGone.
      def deliver(env, status, headers, body)
        return @native.close_stream unless @native.pending?

        head = ResponseHead.new(status, headers)
        head.bodiless? || @native.head? ? send_head(head, body) : send_body(env, head, body)
      ensure
        close(body) if body.respond_to?(:close) && !closed?(body)
      end

      private

      # Closes the body, after the response has been sent: neither the client nor another request waits for the
      # application's `close`.
      def close(body)
        @native.linger unless @native.pending?
      ensure
        body.close
      end

      # Sends the headers for a HEAD, without iterating over the body. They are those of a GET (RFC 9110, section
      # 9.3.2): for a file, the edge adds its headers, and for an Array, Content-Length is added here.
      def send_head(head, body)
        path = file_of(body) unless head.bodiless?
        return deliver_file(head, path) if path

        head = head.with_length(body.sum(&:bytesize)) if body.is_a?(Array) && !head.bodiless? && !head.content_length
        head.offer { |*plain| @native.respond_empty(*plain) }
      end

      def send_body(env, head, body)
        if head.hijack then send_tunnel(env, head, head.hijack)
        elsif head.switches? then send_tunnel(env, head.switching, body)
        elsif (path = file_of(body)) then deliver_file(head, path)
        elsif (pieces = pieces_of(head, body)) then send_pieces(head, pieces)
        elsif body.respond_to?(:each) then send_each(head, body)
        elsif body.respond_to?(:call) then send_call(env, head, body)
        elsif body.nil? then raise Native::InvalidResponse, "the body is #{NOTHING}"
        else raise Native::InvalidResponse, "the body is #{body.class}, without each and call"
        end
      end

      def deliver_file(head, path)
        File.open(path, FILE_FLAGS) do |file|
          stat = file.stat
          raise Native::InvalidResponse, "#{path} has become a #{stat.ftype}" unless stat.file?

          # If the file has grown, the Content-Length of the application counts.
          send_opened(head, file, [stat.size, *head.content_length].min, allows_ranges: true)
        end
      end

      def send_opened(head, file, length, allows_ranges:)
        head.offer { |*plain| @native.respond_file(*plain, [file.fileno, 0, length, allows_ranges]) }
      end

      def send_pieces(head, pieces)
        others = pieces.grep_v(String)
        raise Native::InvalidResponse, "the body contains #{others.first.class}" unless others.empty?

        length = pieces.sum(&:bytesize)
        return head.offer { |*plain| @native.respond(*plain, [*pieces]) } if length <= Native::INLINE_LIMIT

        Spool.open(@spool_dir, pieces) { |file| send_opened(head, file, length, allows_ranges: false) }
      end

      def send_each(head, body)
        writer = BodyWriter.new(@native, head)
        body.each { |piece| writer.write(piece) }
        writer.finish { |pieces| send_pieces(head, pieces) }
      end

      def send_call(env, head, body)
        writer = BodyWriter.new(@native, head)
        writer.open
        @native.flush # The headers go out now: the application may write its first piece late.
        stream = ResponseStream.new(writer, env["rack.input"])
        body.call(stream)
        stream.close
      end

      # Takes over the connection and calls the callable. The callable keeps its socket, and may use it long after it
      # has returned.
      def send_tunnel(env, head, callable)
        raise Native::InvalidResponse, "the connection cannot be taken over" unless env["rack.hijack?"]
        raise Native::InvalidResponse, "#{callable.class} cannot be called" unless callable.respond_to?(:call)

        socket = Tunnel.open { |far| head.offer { |*plain| @native.respond_tunnel(*plain, far) } }
        @native.flush # The response goes out now: the callable may wait for the client.
        callable.call(socket)
        @native.close_stream
      rescue Exception # rubocop:disable Lint/RescueException -- whatever ends the callable, the client must not wait
        socket&.close
        raise
      end

      def file_of(body)
        path = body.to_path if body.respond_to?(:to_path)
        path if path && File.stat(path).file?
      end

      # Returns all pieces of the body as an Array, or nil if it has to be iterated over. In Rack 3, `to_ary` returns
      # the whole body and closes it. In Rack 2 it does not close the body, so only bodies with `closed?` are
      # asked. A body with a Content-Length is not asked, as in Puma: Rails delegates `to_ary` to bodies that do not
      # have it, such as the body of Rack::Files for a range.
      def pieces_of(head, body)
        return body if body.is_a?(Array)

        body.to_ary if body.respond_to?(:to_ary) && body.respond_to?(:closed?) && !head.content_length
      end

      def closed?(body)
        body.respond_to?(:closed?) && body.closed?
      end
    end
  end
end
