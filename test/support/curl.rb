# frozen_string_literal: true

require "open3"

module Support
  # Requests by curl, which speaks HTTP/2.
  module Curl
    # What came back: the version and the status as text ("HTTP/2 200"), the header fields as sent, the body.
    Reply = Struct.new(:status_line, :fields, :body) do
      def status
        status_line[/ (\d+)/, 1].to_i
      end

      def [](name)
        fields[name.downcase]
      end
    end

    # Sends one request and reads its response. A failure of curl fails the test.
    # @param options [Array<String>] such as --http2-prior-knowledge
    # @param input [String] what `--data-binary @-` sends
    def self.get(url, *options, input: "")
      output, errors, status = Open3.capture3("curl", "--silent", "--show-error", "--include", "--max-time", "60",
                                              "--suppress-connect-headers", *options, url,
                                              stdin_data: input, binmode: true)
      raise "curl: #{errors}" unless status.success?

      parse(output)
    end

    # Several heads may precede the body: those of informational responses.
    def self.parse(output)
      head, body = output.split("\r\n\r\n", 2)
      return parse(body) if head.match?(%r{\AHTTP/\S+ 1\d\d})

      status_line, *lines = head.split("\r\n")
      Reply.new(status_line.strip, lines.to_h { |line| line.split(": ", 2).then { |name, value|
 [name.downcase, value] } },
                body.to_s)
    end
  end
end
