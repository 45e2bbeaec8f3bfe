# frozen_string_literal: true

require "test_helper"
require "carat/config/options"
require_relative "../../../script/suite/limits_page"

module Carat
  class LimitsPageTest < Minitest::Test
    ROOT = File.expand_path("../../..", __dir__)

    def test_each_constant_is_in_one_place
      Suite::NamedLimits::TABLE.each { |limit| assert_match(/\A\d/, limit.value, limit.name) }
    end

    def test_each_constant_that_no_test_drives_has_one_of_its_own
      tests = Dir["#{ROOT}/{crates,test}/**/*.{rs,rb}"].map { |path| File.read(path) }.join
      Suite::NamedLimits::TABLE.filter_map(&:test).each { |name| assert_match(/(fn|def) #{name}\b/, tests) }
    end
  end
end
