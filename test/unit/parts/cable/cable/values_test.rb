# frozen_string_literal: true

require "carat/parts/cable/cable/values"
require "test_helper"

module Carat
  class CableValuesTest < Minitest::Test
    include Support::CableApp
    needs Support::CableApp.obstacle

    def test_what_is_kept_comes_back
      values = [nil, true, false, 1, 2**80, -1.5, Float::INFINITY, Rational(1, 3), BigDecimal("1.10"), "grüße",
                "\xFF".b, "ab".encode("UTF-16LE"), :name, [1, [2]], { "a" => 1, b: [nil], [1] => {} }, Set[1, :a],
                Date.new(2026, 2, 28), DateTime.new(2026, 2, 28, 1, 2, Rational(7, 2)), Time.at(1, 5, :nsec).utc,
                Time.new(2026, 2, 28, 1, 2, 3, "+05:30"), Time.utc(2026, 7, 1).in_time_zone("Berlin"),
                Person.new("ann"), { "a" => { "b" => 1 } }.with_indifferent_access]

      values.each do |value|
        again = again(value)
        assert_equal [value.class, value], [again.class, again]
      end
    end

    def test_what_a_value_says_of_itself_comes_back
      assert_equal "CEST", again(Time.utc(2026, 7, 1).in_time_zone("Berlin")).zone
      assert_equal 5.5 * 3600, again(Time.new(2026, 2, 28, 1, 2, 3, "+05:30")).utc_offset
      assert_equal Encoding::UTF_16LE, again("ab".encode("UTF-16LE")).encoding
      assert_equal 1, again({ a: { b: 1 } }.with_indifferent_access)[:a]["b"]
      assert_predicate again(Float::NAN), :nan?
    end

    def test_other_values_are_named
      { $stdout => "holds an IO", Class.new(Array).new => /\Aholds a #<Class/, Object => "holds a Class",
        Person.new("ann").tap { |person| person.changed = true } => "holds a Person with changes that are not saved",
        Person.new(nil) => "holds a Person that is not saved" }.each do |value, message|
        assert_match(message, assert_raises(Cable::Error) { values.dump(value) }.message)
      end
    end

    def test_a_value_that_contains_itself_is_refused
      circle = []
      circle << circle

      assert_equal "holds more than 32 levels", assert_raises(Cable::Error) { values.dump(circle) }.message
    end

    private

    def values
      Cable::Values
    end

    def again(value)
      values.load(JSON.parse(JSON.generate(values.dump(value))))
    end
  end
end
