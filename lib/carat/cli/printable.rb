# frozen_string_literal: true

module Carat
  module CLI
    # Makes text from elsewhere safe to print: characters that a terminal would obey are escaped.
    module Printable
      # The most characters that are printed. The rest of a longer text is cut off.
      LIMIT = 16_384

      module_function

      # Returns `text` without control characters except line ends, in UTF-8, and cut to LIMIT characters.
      def text(text)
        clean = text.dup.force_encoding(Encoding::UTF_8).scrub("?")
        clean = "#{clean[0, LIMIT]} ..." if clean.length > LIMIT
        escaped(clean)
      end

      # Returns `text`, which is UTF-8, with escapes in place of the characters that a terminal obeys: control
      # characters except line ends, and characters that change the direction of text.
      def escaped(text)
        text.gsub(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}&&[^\n]]/) { |character| character.dump[1..-2] }
      end
    end
  end
end
