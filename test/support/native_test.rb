# frozen_string_literal: true

require "minitest"
require "tmpdir"
require "carat/native"
require_relative "lane_harness"

module Support
  # A test at the other end of a lane.
  class NativeTest < Minitest::Test
    def setup
      @harnesses = []
    end

    def teardown
      @harnesses.each(&:close)
    end

    private

    # A lane that no thread serves yet.
    def harness(app = nil, **options)
      LaneHarness.new(app, **options).tap { |harness| @harnesses << harness }
    end

    # A lane with an application behind it.
    def serve(app, **options)
      harness(app, **options).start
    end

    # The environment of one request.
    def env_of(release: "2.2.0", **request)
      lane = harness(release: release)
      lane.request(**request)
      lane.slot.take
    end

    # Yields an unlinked file with this text; its position is not 0.
    def with_file(text)
      File.open(Dir.tmpdir, File::RDWR | File::TMPFILE | File::BINARY) do |file|
        file.write(text)
        file.flush
        yield file
      end
    end
  end
end
