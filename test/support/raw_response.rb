# frozen_string_literal: true

module Support
  # One HTTP/1.1 response as received: status, header lines, and body, uninterpreted.
  RawResponse = Struct.new(:version, :status, :reason, :fields, :body, keyword_init: true) do
    # Parses a head (up to and including the empty line) into a response without a body.
    # @raise [ArgumentError] when the status line is not one
    def self.parse(head)
      status_line, *lines = head.split("\r\n")
      match = %r{\A(HTTP/\d\.\d) (\d{3})(?: (.*))?\z}n.match(status_line.to_s)
      raise ArgumentError, "not a status line: #{status_line.inspect}" unless match

      fields = lines.map { |line| line.split(/:[ \t]*/n, 2) }
      new(version: match[1], status: Integer(match[2]), reason: match[3].to_s, fields: fields, body: +"".b)
    end

    # The first value of a header, or nil; names are case-insensitive.
    def [](name)
      values(name).first
    end

    # All values of a header, in order.
    def values(name)
      fields.select { |field, _| field.casecmp?(name) }.map(&:last)
    end

    def chunked?
      values("transfer-encoding").any? { |value| value.downcase.include?("chunked") }
    end

    def content_length
      self["content-length"]&.to_i
    end

    # Whether the status alone says that no body follows (RFC 9110, section 6.4.1).
    def bodyless?
      status < 200 || status == 204 || status == 304
    end
  end
end
