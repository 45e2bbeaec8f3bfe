# frozen_string_literal: true

require_relative "counted"

module Carat
  module Log
    # Makes text of any origin safe in a log of lines: the text can neither begin a log line of its own nor control a
    # terminal.
    module Escape
      # Maximum size of a text in bytes, before it is escaped. The middle of a longer text is left out.
      TEXT_LIMIT = 16 * 1024
      # How many bytes of a text that is too long are taken from its end.
      TAIL = TEXT_LIMIT / 4
      # Begins the second and each further line of a text.
      INDENT = "    "
      # The characters that are escaped: control and format characters, and the line separators of Unicode.
      HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/
      private_constant :TAIL, :INDENT, :HIDDEN

      module_function

      # Returns `text` in one or more lines, without a final line end. The lines after the first are indented, a byte
      # that is not UTF-8 is written as `\xff`, and a character that is not printable as `\u{1b}`.
      def block(text)
        first, *more = shortened(utf8(text)).split("\n").map { |line| line.sub(/\A\t+/, INDENT).delete_suffix("\r") }
        [first.to_s, *more.map { |line| indented(line) }].map { |line| printable(line) }.join("\n")
      end

      # Returns `text`, which is valid UTF-8, with at most TEXT_LIMIT bytes and a note of how many are left out.
      def shortened(text)
        return text if text.bytesize <= TEXT_LIMIT

        first, last = text.byteslice(0, TEXT_LIMIT - TAIL), text.byteslice(-TAIL, TAIL)
        # A cut may split a character, whose bytes are removed.
        "#{first.scrub("")}\n... #{Counted.of(text.bytesize - TEXT_LIMIT, "byte")} left out ...\n#{last.scrub("")}"
      end

      # Returns `text` in valid UTF-8. The block returns the replacement for bytes that are not valid.
      def utf8(text, &replace)
        replace ||= ->(bytes) { bytes.unpack("C*").map { |byte| format("\\x%02x", byte) }.join }
        convertible = !bytes?(text) && !text.encoding.dummy?
        text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace) if convertible
        text.dup.force_encoding(Encoding::UTF_8).scrub(&replace)
      end

      # Whether the bytes of `text` are taken for UTF-8 without a conversion.
      def bytes?(text)
        [Encoding::UTF_8, Encoding::BINARY, Encoding::US_ASCII].include?(text.encoding)
      end

      def indented(line)
        line.start_with?(INDENT) ? line : "#{INDENT}#{line}"
      end

      def printable(line)
        line.gsub(HIDDEN) { |character| format("\\u{%x}", character.ord) }
      end

      private_class_method :bytes?, :indented, :printable
    end
  end
end
