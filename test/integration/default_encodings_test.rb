# frozen_string_literal: true

require "test_helper"

# Rails sets both default encodings to UTF-8; nothing that Carat writes may be transcoded for it.
class DefaultEncodingsTest < Support::SharedServerTest
  APP = <<~'RUBY'
    Encoding.default_internal = Encoding.default_external = Encoding::UTF_8
    require "rack/files" # Rack 3 has what Rack 2.2 calls Rack::File, too

    LATIN_1 = ("d\u00E9j\u00E0 vu\n" * 20_000).encode(Encoding::ISO_8859_1).freeze
    File.binwrite("blob", Random.new(1).bytes(300_000))

    # As ActionDispatch::Response::RackBody: it passes on what is asked of it to a body that may not know it.
    PassedOn = Struct.new(:body) do
      def respond_to?(name, all = false) = %i[to_ary to_path].include?(name) ? name == :to_ary : super
      def each(&) = body.each(&)
      def to_ary = body.each
      def closed? = false
      def close = body.respond_to?(:close) && body.close
    end

    run(lambda do |env|
      next [200, { "content-type" => "text/csv; charset=iso-8859-1" }, [LATIN_1]] if env["PATH_INFO"] == "/latin1"

      status, headers, body = Rack::Files.new(Dir.pwd).call(env)
      [status, headers, PassedOn.new(body)]
    end)
  RUBY

  serves APP, threads: 1

  def test_latin1_arrives_byte_for_byte
    expected = ("d\u00E9j\u00E0 vu\n" * 20_000).encode(Encoding::ISO_8859_1).b
    assert_equal expected, server.get("/latin1").body
  end

  def test_a_range_of_a_stored_file_is_served
    response = server.get("/blob", fields: { "Range" => "bytes=100000-199999" })
    expected = Random.new(1).bytes(300_000).byteslice(100_000, 100_000)
    assert_equal [206, expected], [response.status, response.body]
  end
end
