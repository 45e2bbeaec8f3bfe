# frozen_string_literal: true

require_relative "form_report"
require_relative "shared_server_test"

module Support
  # Tests that send the same form to two servers: in one Rack takes it apart alone, in the other the edge does.
  class FormTest < SharedServerTest
    BOUNDARY = "AaB03x"
    TYPE = "multipart/form-data; boundary=#{BOUNDARY}".freeze
    # More than the edge leaves in the body, and no text in any encoding.
    CONTENT = (Random.new(3).bytes(20_000) << "\r\n-\r\n--").freeze

    class << self
      # The server whose application gets forms as they come.
      def plain
        @plain ||= Server.new(app: FormReport::APP, workers: 1, threads: 1).start
      end

      def run(...)
        super
      ensure
        @plain&.destroy
        @plain&.directory&.remove
        @plain = nil
      end
    end

    private

    # Sends a body to both servers, asserts that both see the same, and returns how many files the edge has taken out.
    def assert_same(body, type: TYPE, message: nil)
      fields = { "Content-Type" => type }
      edge = server.request("POST", "/", fields: fields, body: body)
      expected = self.class.plain.request("POST", "/", fields: fields, body: body)

      assert_equal [200, 200], [edge.status, expected.status], "#{message}: #{edge.body}"
      assert_equal JSON.parse(expected.body), JSON.parse(edge.body), message || body.b.byteslice(0, 1000).dump
      edge["x-files"].split.count("Carat::FormFile")
    end

    # A form of parts, each [head, content].
    def form(*parts, last: "--#{BOUNDARY}--\r\n")
      parts.map { |head, content| part(head, content) }.join.b << last
    end

    def part(head, content)
      "--#{BOUNDARY}\r\n#{head}\r\n\r\n".b << content.b << "\r\n"
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
