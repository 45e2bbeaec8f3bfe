# frozen_string_literal: true

require_relative "form_body"
require_relative "form_report"
require_relative "shared_server_test"

module Support
  # Tests that send the same form to two servers: in one Rack takes it apart alone, in the other the edge does.
  class FormTest < SharedServerTest
    include FormBody

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
  end
end
