# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/option"

module Carat
  class OptionTest < Minitest::Test
    def test_flag_and_the_variable_come_from_the_name
      option = Config::Option.new(name: :max_body, type: :bytes, default: 1024)

      assert_equal "--max-body", option.flag
      assert_equal ["CARAT_MAX_BODY"], option.variables
      assert_equal "1 KiB", option.default_words
    end

    def test_nil_is_valid_only_as_the_default
      assert_nil Config::Option.new(name: :log, type: :log).parse(nil)
      assert_raises(Config::InvalidValue) { Config::Option.new(name: :workers, type: :integer, default: 1).parse(nil) }
    end

    def test_remedy_follows_the_reason
      option = Config::Option.new(name: :n, type: :integer, within: 1.., default: 1, remedy: "take more")
      error = assert_raises(Config::InvalidValue) { option.parse(0) }

      assert_equal "0 is not a whole number of 1 or more; take more", error.message
    end

    def test_every_source_may_set_an_option_unless_the_row_says_otherwise
      option = Config::Option.new(name: :n, type: :integer, only: %i[flag])

      assert option.from?(:flag)
      refute option.from?(:env)
      refute option.from?(:file)
      assert(%i[flag env file].all? { |source| Config::Option.new(name: :m, type: :integer).from?(source) })
    end
  end
end
