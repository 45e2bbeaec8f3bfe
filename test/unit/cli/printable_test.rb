# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/printable"

module Carat
  class PrintableTest < Minitest::Test
    def test_control_characters_are_escaped_and_line_ends_stay
      assert_equal "a\n\\e[31mb\\t\\x7F", CLI::Printable.text("a\n\e[31mb\t\x7F")
      assert_equal "\\u009B\\u202E\\u2028", CLI::Printable.text("\u009b\u202e\u2028")
    end

    def test_broken_bytes_are_replaced_and_long_text_is_cut
      assert_equal "a?ä", CLI::Printable.text("a\xFFä".b)
      assert_equal "#{"x" * CLI::Printable::LIMIT} ...", CLI::Printable.text("x" * 20_000)
    end
  end
end
