# frozen_string_literal: true

require "minitest/autorun"
require "carat"
require "carat/log/escape"

module Carat
  class EscapeTest < Minitest::Test
    FORGED = "2026-01-01T00:00:00.000Z info worker ready"

    def test_second_line_cannot_be_taken_for_a_line_of_the_log
      assert_equal "a\n    #{FORGED}\n    b", block("a\n#{FORGED}\nb")
      assert_equal "a\n    #{FORGED}", block("a\r\n#{FORGED}")
      assert_equal "a\\u{d}#{FORGED}", block("a\r#{FORGED}")
    end

    def test_indentation_is_kept_and_tabs_become_spaces
      assert_equal "a\n    from b\n      c\n    d\\u{9}e", block("a\n\tfrom b\n      c\nd\te")
    end

    def test_what_a_terminal_obeys_is_shown
      assert_equal "\\u{1b}[31m\\u{0}\\u{9b}2J\\u{7f}\\u{2028}\\u{202e}", block("\e[31m\0\u009b2J\x7f\u2028\u202e")
    end

    def test_what_can_be_printed_stays_as_it_is
      text = "in `block': \"Grüße\" \\ 日本語 नमस्ते"
      assert_equal text, block(text)
    end

    def test_bytes_that_are_not_utf8_are_shown
      assert_equal "a\\xff\\xfeb", block("a\xff\xfeb")
      assert_equal "a\\xffb", block("a\xffb".b)
      assert_equal "é", block("\xe9".dup.force_encoding("ISO-8859-1"))
      assert_equal "a", block("a".encode("UTF-16LE"))
      assert_equal "+AGE-", block("+AGE-".dup.force_encoding("UTF-7"))
    end

    def test_a_text_of_as_many_bytes_as_the_limit_stays_whole
      text = "x" * Log::Escape::TEXT_LIMIT
      assert_equal text, block(text)
    end

    def test_middle_of_a_long_text_is_left_out
      text = block("first é#{"ü" * Log::Escape::TEXT_LIMIT}é last")
      assert_operator text.bytesize, :<, Log::Escape::TEXT_LIMIT + 100
      assert_match(/\Afirst éü+\n    \.\.\. \d+ bytes left out \.\.\.\n    ü+é last\z/, text)
    end

    private

    def block(text)
      Log::Escape.block(text)
    end
  end
end
