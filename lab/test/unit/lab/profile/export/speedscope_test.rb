# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "carat/lab/profile/export/speedscope"
require "carat/lab/profile/report"
require "carat/lab/profile/time_report"
require "support/small_profile"

module Carat
  class SpeedscopeTest < Minitest::Test
    include Support::SmallProfile

    def test_each_series_is_a_profile_whose_frames_are_shared
      document = JSON.parse(Lab::Profile::Speedscope.new([time_report, memory_report].flat_map(&:series), "a").to_s)
      profiles = document.fetch("profiles")
      names = document.dig("shared", "frames").map { |frame| frame.fetch("name") }
      stacks = profiles.map { |profile| profile["samples"].map { |stack| stack.map { |frame| names.fetch(frame) } } }

      assert_equal ["cpu microseconds", "wall microseconds", "alloc_space bytes", "alloc_objects none",
                    "inuse_space bytes", "inuse_objects none"],
                   profiles.map { |profile| profile.values_at("name", "unit").join(" ") }
      assert_equal [["(carat)", "Posts#index"]], stacks[0]
      assert_equal ["(carat)", "Posts#index", "Kernel#sleep"], stacks[1].last
      assert_equal [[["(carat)", "String"]], [40], 40], [stacks[2], *profiles[2].values_at("weights", "endValue")]
    end

    def test_frames_have_their_place
      document = JSON.parse(Lab::Profile::Speedscope.new(time_report.series, "a").to_s)

      assert_includes document.dig("shared", "frames"),
                      { "name" => "Posts#index", "file" => "/srv/posts.rb", "line" => 12 }
    end
  end
end
