# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/sources/spelling"

module Carat
  class SpellingTest < Minitest::Test
    def test_similar_word_is_suggested
      assert_equal "; did you mean workers?", Config::Spelling.hint(:wokers, %i[threads workers])
    end

    def test_the_only_word_that_begins_like_it_is_suggested
      assert_equal "; did you mean --pidfile?", Config::Spelling.hint("--pid", %w[--bind --pidfile])
      assert_equal "; did you mean --worker-age?", Config::Spelling.hint("--worker-a", %w[--worker-age --worker-memory])
    end

    def test_no_word_is_suggested_when_none_is_similar
      assert_equal "", Config::Spelling.hint(:quantum, %i[threads workers])
    end
  end
end
