# frozen_string_literal: true

module Carat
  module Processes
    # Writes JSON of plain values. The json library is a gem whose version the application's bundle chooses: the mold,
    # which loads that bundle, must not have chosen another before.
    module PlainJSON
      ESCAPED = /["\\\u0000-\u001f]/
      private_constant :ESCAPED

      module_function

      # Returns the JSON of a Hash, an Array, a number, true, false or nil; of anything else, that of its words.
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

      # Returns `value`, as #parse returned it, in the form that readers see.
      def text(value)
        words = value.to_s.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub
        "\"#{words.gsub(ESCAPED) { |character| format("\\u%04x", character.ord) }}\""
      end
    end
  end
end
