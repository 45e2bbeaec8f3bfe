# frozen_string_literal: true

module Support
  # The bytes of forms.
  module FormBody
    BOUNDARY = "AaB03x"
    TYPE = "multipart/form-data; boundary=#{BOUNDARY}".freeze
    # More than the edge leaves in the body, and no text in any encoding.
    CONTENT = (Random.new(3).bytes(20_000) << "\r\n-\r\n--").freeze

    module_function

    # A form of parts, each [head, content].
    def form(*parts, last: "--#{BOUNDARY}--\r\n")
      parts.map { |head, content| part(head, content) }.join.b << last
    end

    def part(head, content)
      "--#{BOUNDARY}\r\n".b << head.b << "\r\n\r\n" << content.b << "\r\n"
    end

    def field(name, content, more = "")
      ["Content-Disposition: form-data; name=\"#{name}\"#{more}", content]
    end

    # A file; `filename` is what follows the equals sign.
    def file(name, filename = '"a.bin"', content = CONTENT)
      ["Content-Disposition: form-data; name=\"#{name}\"; filename=#{filename}\r\n" \
       "Content-Type: application/octet-stream", content]
    end
  end
end
