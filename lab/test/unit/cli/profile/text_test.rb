# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require "carat/cli/profile/text"
require "carat/lab/profile/call_tree"

module Carat
  class ProfileTextTest < Minitest::Test
    Report = Struct.new(:tree, :samples, :sampling_bytes_at_end) do
      def details = { seconds: 1.0, requests: 1, sampling_bytes: 65_536, native: true }.merge(to_h.except(:tree))
    end
    Tree = Struct.new(:frames, :calls)
    Call = Struct.new(:caller, :frame, :weight)
    FRAMES = [["ruby", "Posts#index", "/srv/app/posts.rb", 12], ["c", "leaky.so+0x1127", "/srv/app/leaky.so", nil]]
             .map { |frame| Lab::Profile::Frame.new(*frame) }.freeze

    def test_functions_without_a_name_have_a_remedy
      assert_match(/^No names for functions of leaky\.so: install /, text("bytes", [100, 1, 100, 1]))
    end

    def test_nothing_is_left_of_what_was_sampled
      text = text("live_bytes", [100, 1, 0, 0])

      assert_match(/^Nothing that was looked at is still there: /, text)
      refute_match(/%|NaN/, text)
    end

    def test_profile_without_samples_has_no_tree
      assert_match(/^There is no sample: take a longer profile, or a smaller --sampling\.\z/, text("bytes", nil))
    end

    def test_an_interval_that_has_grown_is_named
      assert_match(/, one in 64 KiB: an estimate/, text("bytes", [100, 1, 100, 1]))
      assert_match(/, one in 64 KiB, in the end one in 4 MiB: an /, text("bytes", [100, 1, 100, 1], 4 * 1024 * 1024))
    end

    private

    def text(measure, weight, at_end = 65_536)
      rows = weight ? [[nil, 0, [0, 0, 0, 0]], [0, 1, weight]] : []
      calls = rows.map do |caller, frame, numbers|
        Call.new(caller, frame, Lab::Profile::CallTree::Weight.new(*numbers))
      end
      CLI::Profile::Text.new(Report.new(Tree.new(FRAMES, calls), rows.size, at_end), measure,
                             cut: 1, inverted: false, out: StringIO.new).to_s
    end
  end
end
