# frozen_string_literal: true

require "test_helper"
require "carat/config/options"
require_relative "../../../script/suite/limits_page"

module Carat
  class LimitsPageTest < Minitest::Test
    ROOT = File.expand_path("../../..", __dir__)

    def test_constants_have_these_values
      Suite::NamedLimits::TABLE.each do |limit|
        assert_match(/const #{limit.name}: \w+ = #{Regexp.escape(limit.value)};/, read(limit.file), limit.name)
      end
    end

    def test_each_constant_that_no_test_drives_has_one_of_its_own
      Suite::NamedLimits::TABLE.map(&:test).compact.each do |test|
        path, name = test.split(": ")

        assert_includes read(path), name
      end
    end

    private

    def read(path)
      File.read(File.join(ROOT, path))
    end
  end
end
