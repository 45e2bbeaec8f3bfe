# frozen_string_literal: true

require "digest/sha2"
require_relative "outcome"
require_relative "streams"
require_relative "tunnels"
require_relative "web_sockets"

module Support
  module Chaos
    # A client that sends requests of all kinds over a connection that it keeps, and notes what came of each.
    class Client
      include Streams
      include Tunnels
      include WebSockets

      KINDS = %i[get get inline inline slow bulky spooled spooled huge chunked trickled pair left streams
                 tunnel websockets].freeze
      INLINE_BYTES = (1..2000)
      SPOOLED_BYTES = (100_000..400_000)
      # Bytes of the bodies of plain POSTs. Huge ones are larger than the largest file that the server may write.
      POSTS = { inline: INLINE_BYTES, slow: INLINE_BYTES, bulky: INLINE_BYTES, spooled: SPOOLED_BYTES,
                huge: (1_100_000..1_200_000) }.freeze
      CHUNK_BYTES = 30_000
      # Of a SHA-256 in hexadecimal. A large response repeats it.
      DIGEST_BYTES = 64
      PIECES = 4
      GONE = [EOFError, Errno::ECONNREFUSED, Errno::ECONNRESET, Errno::EPIPE, Eventually::TooLate].freeze

      attr_reader :outcomes

      # The block says whether the server has been told to stop.
      def initialize(server, name, random, &stopping)
        @server = server
        @name = name
        @random = random
        @stopping = stopping
        @outcomes = []
      end

      # Sends a request of one of these kinds, or a pair, and waits for what comes.
      def step(kinds = KINDS)
        kind = kinds.sample(random: @random)
        POSTS.key?(kind) ? post(kind, bytes(POSTS.fetch(kind))) : send(kind)
      end

      # Sends a POST and returns its Outcome.
      def post(kind, body = "")
        exchange("POST", kind, body) { |target| connection.request("POST", target, body: body) }
      end

      def close
        @connection&.close
        @connection = nil
      end

      private

      def get
        exchange("GET", :get, "") { |target| connection.request("GET", target) }
      end

      def chunked
        body = bytes(SPOOLED_BYTES)
        chunks = (0...body.bytesize).step(CHUNK_BYTES).map { |offset| body.byteslice(offset, CHUNK_BYTES) }
        framed = chunks.map { |chunk| "#{chunk.bytesize.to_s(16)}\r\n".b << chunk << "\r\n" }.join << "0\r\n\r\n"
        exchange("POST", :chunked, body) do |target|
          connection.request("POST", target, fields: { "Transfer-Encoding" => "chunked" }, body: framed)
        end
      end

      # The body comes piece by piece, and other clients have their turn in between.
      def trickled
        body = bytes(SPOOLED_BYTES)
        exchange("POST", :trickled, body) do |target|
          connection.request("POST", target, fields: { "Content-Length" => body.bytesize })
          (0...body.bytesize).step((body.bytesize / PIECES) + 1) do |offset|
            connection.write(body.byteslice(offset, (body.bytesize / PIECES) + 1))
            Thread.pass
          end
        end
      end

      # Two requests at once.
      def pair
        pair = Array.new(2) { note("POST", :pair, bytes(INLINE_BYTES)) }
        attempt(pair.first.first) { pair.each { |outcome, body| connection.request("POST", outcome.path, body: body) } }
        pair.each { |outcome, _| receive(outcome) }
      end

      # The client closes without a response, in the middle of its request or after it.
      def left
        body = bytes(SPOOLED_BYTES)
        outcome, = note("POST", :left, body, left: true)
        attempt(outcome) do
          connection.request("POST", outcome.path, fields: { "Content-Length" => body.bytesize })
          connection.write(body.byteslice(0, @random.rand(2 * body.bytesize)))
          connection.reset
        end
        @connection = nil
      end

      def exchange(verb, kind, body)
        outcome, = note(verb, kind, body)
        attempt(outcome) { yield outcome.path }
        receive(outcome)
        outcome
      end

      def note(verb, kind, body, left: false)
        path = "/#{kind}/#{@name}-#{@outcomes.size}"
        digest = Digest::SHA256.hexdigest(body)
        @outcomes << outcome = Outcome.new(verb: verb, path: path, digest: digest, left: left, stopping: false)
        [outcome, body]
      end

      # A server that refuses a body may close before it has all of it; the response can still be read.
      def attempt(outcome)
        yield
      rescue *GONE => e
        outcome.error = e.class
      end

      # A connection that the response before this one has closed, as that of maintenance does, brings no other.
      def receive(outcome)
        return outcome.left = true unless @connection

        response = connection.read_response
        outcome.status = response.status
        outcome.body = response.body.scan(/.{1,#{DIGEST_BYTES}}/mn).uniq.join
        outcome.worker = response["x-worker"].to_i
        close if response["connection"] == "close"
      rescue *GONE => e
        outcome.error = e.class
        close
      ensure
        outcome.stopping = @stopping.call
      end

      def connection
        @connection ||= @server.connect
      end

      def bytes(sizes)
        @random.bytes(@random.rand(sizes))
      end
    end
  end
end
