# frozen_string_literal: true

require_relative "../http2_client"

module Support
  module Chaos
    # Requests of one connection of HTTP/2, and a malformed one among them, which must not harm the others.
    module Streams
      COUNT = 6
      # An unknown pseudo-header field, in Huffman code (RFC 7541, appendix B).
      MALFORMED = "\x82\x84\x86\x01\x09localhost\x00\x83\xb9\x29\xcf\x00".b

      private

      def streams
        open = (1..).step(2).take(COUNT).to_h { |stream| [stream, note("GET", :streams, "").first] }
        attempt_all(open) do |client|
          write_in_two(client, open)
          hear(client.read, open) until open.empty?
        end
      end

      def attempt_all(open)
        client = Http2Client.new(connection = @server.connect)
        yield client
      rescue *Client::GONE => e
        open.each_value { |outcome| outcome.error = e.class }
      ensure
        open.each_value { |outcome| outcome.stopping = @stopping.call }
        connection&.close
      end

      # Other clients have their turn in between.
      def write_in_two(client, open)
        frames = open.map { |stream, outcome| client.request(stream, path: outcome.path) }
        frames << client.frame(:headers, MALFORMED, flags: 5, stream: open.keys.last + 2)
        frames << client.request(last = open.keys.last + 4, path: (open[last] = note("GET", :streams, "").first).path)
        frames = frames.join
        cut = @random.rand(frames.bytesize)
        client.write(frames.byteslice(0, cut))
        Thread.pass
        client.write(frames.byteslice(cut..))
      end

      # Takes what the server has sent; streams that have ended are no longer open.
      def hear(frame, open)
        raise EOFError if frame.nil? || (frame.kind == :go_away && frame.error.positive?)

        refuse(frame.payload.unpack1("N"), open) if frame.kind == :go_away
        outcome = open[frame.stream] or return
        outcome.status ||= frame.status if frame.kind == :headers
        outcome.body = "#{outcome.body}#{frame.payload}" if frame.kind == :data
        return unless frame.kind == :reset || (%i[headers data].include?(frame.kind) && frame.end_stream?)

        outcome.stopping = @stopping.call
        open.delete(frame.stream)
      end

      # An edge that finishes leaves later streams to the next one.
      def refuse(last, open)
        open.select { |stream, _| stream > last }.each do |stream, outcome|
          outcome.left = true
          open.delete(stream)
        end
      end
    end
  end
end
