# frozen_string_literal: true

require "test_helper"
require_relative "../../../script/suite/named_limits"

class NamedLimitsTest < Minitest::Test
  ROOT = Suite::NamedLimits::ROOT
  TABLE = Suite::NamedLimits::TABLE

  def test_the_page_has_the_value_and_the_place_of_each_constant
    assert_equal TABLE.size, File.foreach("#{ROOT}/docs/security.md").grep(/^\| `[A-Z_]+` \|/).size
    TABLE.each { |limit| assert_equal limit.value, limit.stated, limit.name }
  end

  def test_each_constant_that_limits_test_does_not_drive_has_a_test_of_its_own
    tests = Dir["#{ROOT}/{crates,test}/**/*.{rs,rb}"].map { |path| File.read(path) }.join
    assert_empty(TABLE.filter_map(&:test).grep_v(->(name) { tests.match?(/(fn|def) #{name}\b/) }))
  end
end
