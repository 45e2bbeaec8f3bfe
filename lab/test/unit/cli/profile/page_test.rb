# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "carat/cli/profile/page"
require "carat/lab/profile/report"

module Carat
  class ProfilePageTest < Minitest::Test
    Tree = Struct.new(:frames, :calls)
    Call = Struct.new(:caller, :frame, :weight)
    FRAMES = [["other", "(carat)", nil, nil], ["ruby", "Posts#index", "/srv/app/lib/shop/posts.rb", 12],
              ["object", "String", nil, nil], ["c", "rb_str_resize", "/usr/lib/libruby.so.3.3", nil]]
             .map { |frame| Lab::Profile::Frame.new(*frame) }.freeze
    CALLS = [[nil, 0, [0, 0, 0, 0]], [0, 1, [0, 0, 0, 0]], [1, 2, [40, 1, 40, 1]], [1, 3, [1000, 1, 0, 0]],
             [nil, 2, [7, 1, 0, 0]]].freeze

    def test_calls_are_below_the_one_that_made_them
      leaves = [["String", []], ["rb_str_resize (libruby.so.3.3)", []]]

      assert_equal [["(carat)", [["Posts#index shop/posts.rb:12", leaves]]], ["String", []]], names(root["c"])
    end

    def test_each_call_has_its_own_numbers
      call = root["c"].first["c"].first

      assert_equal [[0, 0, 0, 0], [40, 1, 40, 1]], [call["o"], call["c"].first["o"]]
    end

    def test_calls_of_one_library_have_one_color
      outer = root["c"].first
      inner = outer["c"].first

      assert_equal ["", "shop", "object", "libruby.so.3.3"], [outer, inner, *inner["c"]].map { |call| call["g"] }
    end

    private

    def names(calls)
      calls.map { |call| [call["n"], names(call["c"])] }
    end

    def report(tree)
      Lab::Profile::Report.allocate.tap { |report| report.instance_variable_set(:@tree, tree) }
    end

    def root
      calls = CALLS.map { |caller, frame, weight| Call.new(caller, frame, Lab::Profile::CallTree::Weight.new(*weight)) }
      html = CLI::Profile::Page.new([report(Tree.new(FRAMES, calls))], "carat profile", ["1 KiB allocated"]).to_s
      JSON.parse(html[%r{<script type="application/json">(.*?)</script>}, 1])["views"].first["root"]
    end
  end
end
