# frozen_string_literal: true

require "cgi/escape"
require "json"

module Carat
  module Lab
    module Html
      # Text and data of elsewhere as parts of a page.
      module Markup
        # What could end a script element, or a line of JavaScript.
        UNSAFE = %r{[<>&\u2028\u2029]}
        private_constant :UNSAFE

        module_function

        # Returns the text in UTF-8; bytes that are none become U+FFFD.
        def utf8(text)
          text.to_s.dup.force_encoding(Encoding::UTF_8).scrub
        end

        # Returns the text escaped, for elements and quoted attributes.
        def text(text)
          CGI.escapeHTML(utf8(text))
        end

        # Returns a script element with the data as JSON, which a browser does not run. The Strings are UTF-8.
        def data(data)
          json = JSON.generate(data, max_nesting: 0).gsub(UNSAFE) { |character| format("\\u%04x", character.ord) }
          "<script type=\"application/json\">#{json}</script>"
        end
      end
    end
  end
end
