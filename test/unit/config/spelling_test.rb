# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/spelling"

module Carat
  class SpellingTest < Minitest::Test
    def test_a_near_word_is_suggested
      assert_equal "; did you mean workers?", Config::Spelling.hint(:wokers, %i[threads workers])
    end

    def test_nothing_is_said_when_no_word_is_near
      assert_equal "", Config::Spelling.hint(:quantum, %i[threads workers])
    end
  end
end
