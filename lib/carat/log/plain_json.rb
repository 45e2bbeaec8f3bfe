# frozen_string_literal: true

require_relative "escape"

module Carat
  module Log
    # Generates JSON without the json gem. The application's bundle chooses the version of that gem, so the mold must
    # not load another version first.
    module PlainJSON
      # Characters that are escaped: JSON requires it, or a terminal or a pager would obey them. The edge escapes the
      # same characters in its log lines.
      ESCAPED = /["\\\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
      private_constant :ESCAPED

      module_function

      # Returns the JSON of a Hash, an Array, a number, true, false or nil. Any other value becomes a string with its
      # text.
      def generate(value)
        case value
        when Hash then "{#{value.map { |name, member| "#{text(name)}:#{generate(member)}" }.join(",")}}"
        when Array then "[#{value.map { |member| generate(member) }.join(",")}]"
        when nil then "null"
        when Integer, true, false then value.to_s
        when Float then value.finite? ? value.to_s : "null"
        else text(value)
        end
      end

      # Returns the text of `value` as a JSON string.
      def text(value)
        words = Escape.utf8(value.to_s) { "\ufffd" }
        "\"#{words.gsub(ESCAPED) { |character| format("\\u%04x", character.ord) }}\""
      end
    end
  end
end
