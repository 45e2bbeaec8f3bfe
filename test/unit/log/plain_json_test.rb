# frozen_string_literal: true

require "minitest/autorun"
require "json"
require "carat/log/plain_json"

module Carat
  class PlainJSONTest < Minitest::Test
    def test_plain_values_survive_a_round_trip
      value = { "a" => [1, -2.5, 1.0e-5, true, false, nil], "b" => { "c" => {} }, "d" => [] }

      assert_equal value, JSON.parse(Log::PlainJSON.generate(value))
    end

    def test_symbols_become_strings
      assert_equal '{"a":"b"}', Log::PlainJSON.generate({ a: :b })
    end

    def test_strings_are_escaped
      words = "\"quoted\" \\ \#{x} \e[1m\n\u0000 \u00e9 \u{1f600}"

      assert_equal [words], JSON.parse(Log::PlainJSON.generate([words]))
    end

    def test_invalid_bytes_are_replaced
      assert_equal ["\ufffd"], JSON.parse(Log::PlainJSON.generate(["\xff"]))
      assert_equal ["\ufffd"], JSON.parse(Log::PlainJSON.generate(["\xff".b]))
    end

    def test_infinity_and_nan_are_null
      assert_equal "[null,null]", Log::PlainJSON.generate([Float::NAN, Float::INFINITY])
    end
  end
end
