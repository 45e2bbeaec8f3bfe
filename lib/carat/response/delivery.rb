# frozen_string_literal: true

require_relative "../native"
require_relative "body_writer"
require_relative "response_head"
require_relative "response_stream"
require_relative "spool"

module Carat
  module Response
    # Hands over answers that are more than a Hash of Strings and a small Array of Strings, in the cheapest way that
    # their body allows, and closes the body.
    class Delivery
      INLINE_LIMIT = BodyWriter::SHORT_LIMIT
      private_constant :INLINE_LIMIT

      # What has become a pipe since it was looked at must not keep the thread waiting for its other end.
      FILE_FLAGS = File::RDONLY | File::NONBLOCK

      # `native` is a Native::Lane; `spool_dir` is where large bodies wait for their client, unlinked.
      def initialize(native, spool_dir)
        @native = native
        @spool_dir = spool_dir
      end

      # Raises what the body raises, and Native::InvalidResponse or Native::ClientGone.
      def deliver(env, status, headers, body)
        head = ResponseHead.new(status, headers)
        head.bodiless? || @native.head? ? send_head(head, body) : send_body(env, head, body)
      ensure
        body.close if body.respond_to?(:close) && !closed?(body)
      end

      private

      # The body is not even begun. A HEAD has the length of an Array, as GET does: RFC 9110, section 9.3.2.
      def send_head(head, body)
        head = head.with_length(body.sum(&:bytesize)) if body.is_a?(Array) && !head.bodiless? && !head.content_length
        head.offer { |*plain| @native.respond_empty(*plain) }
      end

      def send_body(env, head, body)
        if (path = file_of(body)) then send_file(head, path)
        elsif (pieces = pieces_of(head, body)) then send_pieces(head, pieces)
        elsif body.respond_to?(:each) then send_each(head, body)
        elsif body.respond_to?(:call) then send_call(env, head, body)
        else raise Native::InvalidResponse, "the body is #{body.class}, without each and call"
        end
      end

      def send_file(head, path)
        File.open(path, FILE_FLAGS) do |file|
          stat = file.stat
          raise Native::InvalidResponse, "#{path} is a #{stat.ftype} now" unless stat.file?

          # A file that has grown since the application looked is cut to what was declared.
          send_opened(head, file, [stat.size, *head.content_length].min, allows_ranges: true)
        end
      end

      def send_opened(head, file, length, allows_ranges:)
        head.offer { |*plain| @native.respond_file(*plain, [file.fileno, 0, length, allows_ranges]) }
      end

      def send_pieces(head, pieces)
        stranger = pieces.find { |piece| !piece.is_a?(String) }
        raise Native::InvalidResponse, "the body has #{stranger.class} in it" if stranger

        length = pieces.sum(&:bytesize)
        return head.offer { |*plain| @native.respond(*plain, [*pieces]) } if length <= INLINE_LIMIT

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
        @native.flush # the application may write late
        stream = ResponseStream.new(writer, env["rack.input"])
        body.call(stream)
        stream.close
      end

      def file_of(body)
        path = body.to_path if body.respond_to?(:to_path)
        path if path && File.stat(path).file?
      end

      # Rack 3 offers `to_ary` to get the whole body at once. It closes the body, which it does not in Rack 2, so only a
      # body that answers `closed?` is asked. A body of declared length is not asked, as in Puma: Rails passes `to_ary`
      # on to bodies that do not have it, such as that of Rack::Files for a range.
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
