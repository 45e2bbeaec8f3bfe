# frozen_string_literal: true

require_relative "case"

module Support
  module Differential
    # Connections of one to three requests, most of them with something that parsers read in different ways. The same
    # seed makes the same connections.
    class RandomMessages
      VERBS = %w[GET POST PUT DELETE HEAD PATCH].freeze
      FIELDS = ["X: y", "Accept: */*", "Cookie: a=b; c=d", "X-Long: #{"z" * 200}", "Connection: keep-alive",
                "TE: trailers", "Expect: 100-continue", "Referer: /"].freeze
      # No quotes: proxies write them into their logs in ways of their own.
      BYTES = ["\r", "\n", "\r\n", " ", "\t", "\0", "\v", "\f", ":", ",", ";", "\x7F", "\x85", "\xA0", "0",
               "x"].map(&:b)
      LINE_ENDS = ["\n", "\r", "\r\r\n", "\n\r", "\r\n ", "\r\n\r\n", " \r\n"].freeze
      LENGTHS = ["+%d", "-%d", "0x%x", "%d, %d", "0%d", "%d\r\nContent-Length: 0", "%d.0", "%d ", "\t%d", "%d\v"].freeze
      CODINGS = ["Chunked", "chunked, chunked", "identity, chunked", "chunked, identity", "x chunked", "\vchunked",
                 "chunked;a", "gzip, chunked", "chunked\r\nTransfer-Encoding: chunked", ",chunked",
                 "\"chunked\""].freeze
      SIZES = ["%x;a", "%x;a=b", "%x;a=\"b\"", "0%x", "%X", "%x ", " %x", "0x%x", "+%x", "%x;",
               "%x;a\nb", "%x;\n", "%x\n", "%x;a=\"\r\n\""].freeze
      CHUNK_ENDS = ["\n", "", "xy", "\r", "\r\r\n"].freeze
      VERSIONS = ["HTTP/1.0", "HTTP/1.2", "HTTP/1.1 ", "HTTP/2.0", "http/1.1", "HTTP/1.01"].freeze

      def initialize(seed, first)
        @random = Random.new(seed)
        @number = first - 1
      end

      # @return [Case] of one to three requests
      def next
        @number += 1
        @oddities = chance(5) ? 0 : 1 + @random.rand(2)
        is_odd = @oddities.positive?
        messages = Array.new(1 + @random.rand(3)) { |index| message(index) }.join
        Case.new(@number, "generated", damaged(messages), !is_odd)
      end

      private

      def message(index)
        verb = pick(VERBS)
        content = body(verb)
        line = "#{verb} #{Case.path(@number)}/#{index} #{odd(12) { pick(VERSIONS) } || "HTTP/1.1"}"
        lines = [line, "Host: a", *Array.new(@random.rand(3)) { pick(FIELDS) }]
        case @random.rand(verb == "GET" ? 8 : 3)
        when 0 then by_length(lines, content)
        when 1 then in_chunks(lines, content)
        else head(lines)
        end
      end

      # What is in a body looks like a request, now and then.
      def body(verb)
        return "#{verb} #{Case.path(@number)}/hidden HTTP/1.1\r\nHost: a\r\n\r\n" if chance(2)

        pick(["hello", "", "0\r\n\r\n", "a" * 300, "\0\xFF\r\n".b])
      end

      def by_length(lines, content)
        length = odd(4) { format(pick(LENGTHS).gsub("%d", "%<n>d").gsub("%x", "%<n>x"), n: content.bytesize) }
        framing = ["Content-Length: #{length || content.bytesize}"]
        odd(8) { framing << "Transfer-Encoding: #{pick(["chunked", *CODINGS])}" }
        head(lines + framing.shuffle(random: @random)) << content.b
      end

      def in_chunks(lines, content)
        framing = ["Transfer-Encoding: #{odd(4) { pick(CODINGS) } || "chunked"}"]
        odd(8) { framing << "Content-Length: #{pick([0, 5, content.bytesize])}" }
        chunks = content.empty? ? [] : content.b.scan(/.{1,#{1 + @random.rand(100)}}/mn)
        head(lines + framing.shuffle(random: @random)) << chunks.map { |chunk| chunk(chunk) }.join << last_chunk
      end

      def chunk(data)
        size = format((odd(4) { pick(SIZES) } || "%x").gsub(/%([xX])/, '%<n>\1'), n: data.bytesize)
        size.b << "\r\n" << data << (odd(6) { pick(CHUNK_ENDS) } || "\r\n")
      end

      def last_chunk
        pick(["0\r\n\r\n", "0\r\n\r\n", "00;a\r\n\r\n", "0\r\nX: y\r\n\r\n"]).b
      end

      def head(lines)
        lines.map { |line| line.b << (odd(25) { pick(LINE_ENDS) } || "\r\n") }.join << "\r\n".b
      end

      # With odd bytes anywhere but where a target names its case, if not enough else is odd.
      def damaged(messages)
        return messages if chance(3)

        pieces = messages.split(%r{(/\*/\d+/)}n)
        @oddities.times do
          piece = pieces[2 * @random.rand((pieces.size + 1) / 2)]
          piece.insert(@random.rand(piece.bytesize + 1), pick(BYTES))
        end
        pieces.join
      end

      # The block's value in one of so many cases, until the message is odd enough.
      def odd(one_in)
        return unless @oddities.positive? && chance(one_in)

        @oddities -= 1
        yield
      end

      def pick(from)
        from[@random.rand(from.size)]
      end

      def chance(one_in)
        @random.rand(one_in).zero?
      end
    end
  end
end
