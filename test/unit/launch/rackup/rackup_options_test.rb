# frozen_string_literal: true

require "minitest/autorun"
require "carat/launch/rackup/rackup_options"

module Carat
  class RackupOptionsTest < Minitest::Test
    def test_the_list_comes_from_the_option_table
      assert_equal "Requests that a worker runs at once.", Launch::RackupOptions.listed["threads=N"]
      assert_includes Launch::RackupOptions.listed, "Port=PORT"
    end

    def test_options_of_carat_rackup_and_rails_need_no_warning
      assert_empty warnings(threads: "2", Workers: "2", Port: 1, user_supplied_options: [], restart_cmd: "")
    end

    def test_unknown_options_are_named
      assert_equal ["thraeds: no such option; did you mean threads? (rackup -s carat --help lists them)"],
                   warnings(thraeds: "2")
      assert_equal ["Silent: no such option (rackup -s carat --help lists them)"], warnings(Silent: true)
    end

    def test_a_flag_of_rails_that_is_not_given_is_no_option
      assert_empty warnings(early_hints: nil)
      assert_nil Launch::RackupOptions.key(Config::Options.fetch(:early_hints), { early_hints: nil })
      assert_equal :early_hints, Launch::RackupOptions.key(Config::Options.fetch(:early_hints), { early_hints: true })
    end

    private

    def warnings(**given)
      Launch::RackupOptions.warnings(given)
    end
  end
end
