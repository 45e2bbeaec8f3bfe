# frozen_string_literal: true

require "test_helper"
require "rack"

module Native
  class FormFilesTest < Support::NativeTest
    FACTORY = "rack.multipart.tempfile_factory"
    SKELETON = "what is left"

    def setup
      super
      @files = []
    end

    def teardown
      @files.each(&:close)
      super
    end

    def test_a_request_without_files_has_no_factory
      refute_includes env_of, FACTORY
    end

    def test_files_come_in_their_order_at_their_beginning
      env = harness.then { |lane| take_form(lane, "one", nil, "two") }
      tempfiles = Array.new(3) { |number| env[FACTORY].call("#{number}.txt", "text/plain") }

      assert_equal ["one", "", "two"], tempfiles.map(&:read)
      assert_equal [Carat::FormFile, Tempfile, Carat::FormFile], tempfiles.map(&:class)
      assert_equal SKELETON, env["rack.input"].read
    end

    def test_the_body_of_a_form_may_be_a_file_too
      lane = harness
      lane.request(file: file(SKELETON), files: [file("one"), nil])
      env = lane.slot.take

      assert_equal [SKELETON, SKELETON.bytesize.to_s, "one"],
                   [env["rack.input"].read, env["CONTENT_LENGTH"], env[FACTORY].call("a", nil).read]
    end

    def test_files_stay_with_their_requests
      lane = harness
      3.times { |number| lane.request(body: SKELETON, files: [file("a#{number}"), file("b#{number}")]) }
      texts = Array.new(3) { take(lane)[FACTORY].then { |files| Array.new(2) { files.call("x", nil).read } } }
      assert_equal [%w[a0 b0], %w[a1 b1], %w[a2 b2]], texts
    end

    def test_files_of_a_recalled_request_go_with_it
      lane = harness
      lane.request(body: SKELETON, files: [file("recalled")])
      lane.recall(1)
      lane.request(body: SKELETON, files: [file("wanted")])
      assert_equal "wanted", lane.slot.take[FACTORY].call("x", nil).read
    end

    def test_only_files_that_nobody_asked_for_are_closed_with_the_request
      lane = harness
      env = take_form(lane, "taken", "left")
      taken = env[FACTORY].call("x", nil)
      left = env[FACTORY].instance_variable_get(:@files).last
      lane.slot.respond(200, {}, [])
      lane.request
      lane.slot.take

      assert_equal ["taken", true], [taken.read, left.closed?]
    end

    private

    def take_form(lane, *texts)
      lane.request(method: "POST", body: SKELETON, files: texts.map { |text| text && file(text) })
      lane.slot.take
    end

    def take(lane)
      lane.slot.take.tap { lane.slot.respond(200, {}, []) }
    end

    # An unlinked file with this text; its position is not 0.
    def file(text)
      file = File.open(Dir.tmpdir, File::RDWR | File::TMPFILE | File::BINARY)
      file.write(text)
      file.flush
      @files << file
      file
    end
  end
end
