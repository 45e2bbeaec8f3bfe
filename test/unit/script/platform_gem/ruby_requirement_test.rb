# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../script/platform_gem/ruby_requirement"

class PlatformGemRubyRequirementTest < Minitest::Test
  def test_rubies_with_an_extension_and_no_others_are_met
    assert_met %w[3.1.0 3.1.7 3.3.0 3.4.11], %w[3.0.7 3.2.0 3.2.11 3.5.0 3.5.0.dev 4.0.0], %w[3.1.0 3.3.0 3.4.0]
  end

  def test_single_ruby_is_met
    assert_met %w[3.3.0 3.3.9], %w[3.2.9 3.4.0.preview1 3.4.0], %w[3.3.0]
  end

  def test_next_major_release_has_no_gap
    assert_met %w[3.4.1 4.0.3], %w[4.1.0], %w[4.0.0 3.4.0]
  end

  def test_rubies_are_named_in_words
    assert_equal "3.1, 3.3", PlatformGem::RubyRequirement.new(%w[3.1.0 3.3.0]).to_s
  end

  private

  def assert_met(good, bad, abis)
    requirement = Gem::Requirement.new(PlatformGem::RubyRequirement.new(abis).to_a)
    met = ->(version) { requirement.satisfied_by?(Gem::Version.new(version)) }

    assert_equal [good, []], [good.select(&met), bad.select(&met)]
  end
end
