# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/options"
require "carat/config/settings"

module Carat
  class SettingsTest < Minitest::Test
    def setup
      @settings = Config::Settings.new
    end

    def test_values_are_parsed_when_they_are_set
      @settings.set(Config::Options.fetch(:threads), "2", "here")

      assert_equal 2, @settings.fetch(:threads)
    end

    def test_values_of_a_list_add_up
      2.times { |n| @settings.set(Config::Options.fetch(:bind), "tcp://x:#{n}", "here") }

      assert_equal %w[tcp://x:0 tcp://x:1], @settings.fetch(:bind)
    end

    def test_errors_begin_with_the_place
      error = assert_raises(Config::ConfigError) { @settings.set(Config::Options.fetch(:threads), 0, "here") }

      assert_equal "here: 0 is not a whole number from 1 to 100", error.message
    end

    def test_frozen_settings_reject_values
      @settings.freeze
      error = assert_raises(Config::ConfigError) { @settings.set(Config::Options.fetch(:threads), 1, "here") }

      assert_equal "here: is too late: the configuration has been read", error.message
    end

    def test_what_is_not_set_raises_key_error
      refute @settings.key?(:threads)
      assert_raises(KeyError) { @settings.fetch(:threads) }
    end
  end
end
