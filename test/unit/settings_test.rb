# frozen_string_literal: true

require "minitest/autorun"
require "carat/options"
require "carat/settings"

class SettingsTest < Minitest::Test
  def setup
    @settings = Carat::Settings.new
  end

  def test_values_are_parsed_when_they_are_set
    @settings.set(Carat::Options.fetch(:workers), "2", "here")

    assert_equal 2, @settings.fetch(:workers)
  end

  def test_lists_grow
    2.times { |n| @settings.set(Carat::Options.fetch(:bind), "tcp://x:#{n}", "here") }

    assert_equal %w[tcp://x:0 tcp://x:1], @settings.fetch(:bind)
  end

  def test_errors_begin_with_the_place
    error = assert_raises(Carat::ConfigError) { @settings.set(Carat::Options.fetch(:workers), 0, "here") }

    assert_equal "here: 0 is not a whole number of 1 or more", error.message
  end

  def test_frozen_settings_refuse_more
    @settings.freeze
    error = assert_raises(Carat::ConfigError) { @settings.set(Carat::Options.fetch(:workers), 1, "here") }

    assert_equal "here: comes too late, the configuration has been read", error.message
  end

  def test_what_is_not_set_raises_key_error
    refute @settings.key?(:workers)
    assert_raises(KeyError) { @settings.fetch(:workers) }
  end
end
