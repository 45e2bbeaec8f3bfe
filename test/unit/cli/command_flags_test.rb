# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/command_flags"

module Carat
  class CommandFlagsTest < Minitest::Test
    def setup
      @flags = CLI::CommandFlags.new
    end

    def test_values_are_read_by_their_types
      @flags.add("--pid", "42")
      @flags.add("--json", nil)

      assert_equal({ pid: 42, json: true }, @flags.for(:memory))
    end

    def test_a_value_may_be_the_next_word
      @flags.add("--pid", nil) { "7" }

      assert_equal({ pid: 7 }, @flags.for(:memory))
    end

    def test_wrong_values_name_the_flag
      assert_refused('--pid: "x" is not a whole number of 1 or more') { @flags.add("--pid", "x") }
      assert_refused("--json: takes no value") { @flags.add("--json", "yes") }
    end

    def test_a_flag_of_another_command_is_refused
      @flags.add("--json", nil)

      assert_refused("--json: is only for carat memory") { @flags.for(:serve) }
    end

    def test_without_flags_every_command_is_content
      assert_empty @flags.for(:check)
    end

    private

    def assert_refused(message, &block)
      assert_equal message, assert_raises(Config::ConfigError, &block).message
    end
  end
end
