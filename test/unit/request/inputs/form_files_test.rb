# frozen_string_literal: true

require "rack"
require "stringio"
require "test_helper"
require "tmpdir"
require "carat/native"
require "carat/request/inputs/form_files"
require "carat/request/inputs/memory_input"

module Carat
  class FormFilesTest < Minitest::Test
    TYPE = "multipart/form-data; boundary=x"

    def test_rack_makes_its_params_of_what_is_left_and_of_the_files
      params = request("one", nil, "two").POST
      assert_equal(["one", "", "two"], params.values_at("f0", "f1", "f2").map { |file| file[:tempfile].read })
      assert_equal ["f0.txt", "text/plain"], params["f0"].values_at(:filename, :type)
      assert_equal "value", params["field"]
    end

    def test_a_form_that_is_parsed_again_has_the_same_files
      request = request("one", "two")
      first = request.POST
      request.env["rack.input"].rewind
      second = Rack::Multipart.parse_multipart(request.env)
      assert_equal(%w[one two], %w[f0 f1].map { |name| second[name][:tempfile].read })
      assert_same first["f1"][:tempfile], second["f1"][:tempfile]
    end

    def test_the_reaper_closes_the_files
      env = request("one").env
      tempfile = nil
      app = ->(seen) { [200, {}, [(tempfile = Rack::Request.new(seen).POST["f0"][:tempfile]).read]] }
      _, _, body = Rack::TempfileReaper.new(app).call(env)
      path = tempfile.path
      assert_path_exists path
      body.close
      assert_predicate tempfile, :closed?
      refute_path_exists path
    end

    def test_a_limit_of_racks_closes_the_files_and_leaves_none_behind
      with_file_limit(2) do
        request = request("one", "two")
        error = assert_raises(StandardError) { request.POST }
        assert_match(/Maximum file multiparts/, error.message)
      end
    end

    def test_rack_lint_has_no_objection
      app = Rack::Lint.new(->(env) { [200, { "content-type" => "text/plain" }, [read_first(env)]] })
      _, _, body = app.call(Rack::MockRequest.env_for("/", request("one").env.merge(method: "POST")))
      pieces = []
      body.each { |piece| pieces << piece }
      assert_equal ["one"], pieces
    end

    private

    def read_first(env)
      Rack::Request.new(env).POST["f0"][:tempfile].read
    end

    def with_file_limit(limit)
      before = Rack::Utils.multipart_part_limit
      Rack::Utils.multipart_part_limit = limit
      yield
    ensure
      Rack::Utils.multipart_part_limit = before
    end

    # A request whose form had these files; nil for an empty one.
    def request(*texts)
      body = skeleton(texts.size)
      input = Request::MemoryInput.new(body)
      descriptors = texts.map { |text| text && descriptor(text) }
      files = Request::FormFiles.new(descriptors, input, Dir.tmpdir)
      Rack::Request.new("REQUEST_METHOD" => "POST", "CONTENT_TYPE" => TYPE, "CONTENT_LENGTH" => body.bytesize.to_s,
                        "rack.input" => input, "rack.multipart.tempfile_factory" => files)
    end

    def skeleton(count)
      parts = Array.new(count) do |number|
        "--x\r\nContent-Disposition: form-data; name=\"f#{number}\"; filename=\"f#{number}.txt\"\r\n" \
          "Content-Type: text/plain\r\n\r\n\r\n"
      end
      "#{parts.join}--x\r\nContent-Disposition: form-data; name=\"field\"\r\n\r\nvalue\r\n--x--\r\n".b
    end

    def descriptor(text)
      file = File.open(Dir.tmpdir, File::RDWR | File::TMPFILE)
      file.write(text)
      file.rewind
      file.autoclose = false
      file.fileno
    end
  end
end
