# frozen_string_literal: true

require "minitest/autorun"
require "json"
require "carat/processes/plain_json"

module Carat
  class PlainJSONTest < Minitest::Test
    def test_plain_values_come_back_from_it
      value = { "a" => [1, -2.5, 1.0e-5, true, false, nil], "b" => { "c" => {} }, "d" => [] }

      assert_equal value, JSON.parse(Processes::PlainJSON.generate(value))
    end

    def test_names_and_words_may_be_symbols
      assert_equal '{"a":"b"}', Processes::PlainJSON.generate({ a: :b })
    end

    def test_words_are_escaped
      words = "\"quoted\" \\ \#{x} \e[1m\n\u0000 \u00e9 \u{1f600}"

      assert_equal [words], JSON.parse(Processes::PlainJSON.generate([words]))
    end

    def test_bytes_that_are_no_text_are_replaced
      assert_equal ["\ufffd"], JSON.parse(Processes::PlainJSON.generate(["\xff"]))
      assert_equal ["\ufffd"], JSON.parse(Processes::PlainJSON.generate(["\xff".b]))
    end

    def test_what_json_has_no_number_for_is_null
      assert_equal "[null,null]", Processes::PlainJSON.generate([Float::NAN, Float::INFINITY])
    end
  end
end
