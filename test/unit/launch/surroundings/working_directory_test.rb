# frozen_string_literal: true

require "minitest/autorun"
require "carat/launch/surroundings/working_directory"
require_relative "../../../support/workplace"

module Carat
  class WorkingDirectoryTest < Minitest::Test
    include Support::Workplace

    def test_path_that_the_user_took_is_kept
      File.symlink(@workplace, "#{@workplace}/current")

      assert_equal "#{@workplace}/current", Launch::WorkingDirectory.new({ "PWD" => "#{@workplace}/current" }).path
    end

    def test_path_that_leads_elsewhere_is_not_used
      [nil, "", ".", "/", "/nowhere"].each do |pwd|
        assert_equal Dir.pwd, Launch::WorkingDirectory.new({ "PWD" => pwd }.compact).path
      end
    end

    def test_gemfile_in_this_directory_is_named_by_the_same_path
      File.symlink(@workplace, "#{@workplace}/current")
      env = { "PWD" => "#{@workplace}/current", "BUNDLE_GEMFILE" => "#{Dir.pwd}/Gemfile" }

      assert_equal({ "BUNDLE_GEMFILE" => "#{@workplace}/current/Gemfile" }, Launch::WorkingDirectory.new(env).variables)
      env["BUNDLE_GEMFILE"] = "/elsewhere/Gemfile"

      assert_empty Launch::WorkingDirectory.new(env).variables
    end
  end
end
