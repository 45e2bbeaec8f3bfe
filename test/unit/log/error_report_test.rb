# frozen_string_literal: true

require "test_helper"
require "carat/log/error_report"
require "carat/native"

module Carat
  class ErrorReportTest < Minitest::Test
    # An application may override any method of its errors.
    class Treacherous < StandardError
      def message = raise("no message")
    end

    def test_error_is_reported_with_its_place_and_cause
      text = Log::ErrorReport.new(error).to_s
      assert_match(/\A\S*error_report_test.rb:\d+:in .*outer \(RuntimeError\)$/, text)
      assert_includes text, "inner (ArgumentError)"
      refute text.end_with?("\n")
    end

    def test_invalid_response_needs_no_backtrace
      assert_equal "no good", Log::ErrorReport.new(Native::InvalidResponse.new("no good")).to_s
    end

    def test_error_whose_message_raises_is_reported_by_its_class
      assert_includes Log::ErrorReport.new(Treacherous.new).to_s, "Carat::ErrorReportTest::Treacherous"
    end

    def test_message_of_any_encoding_is_reported
      ["\xff\x00", "caf\xe9".dup.force_encoding("ISO-8859-1"), "x".encode("UTF-16LE"),
       "+AGE-".dup.force_encoding("UTF-7")].each do |message|
        assert_includes Log::ErrorReport.new(RuntimeError.new(message)).to_s.b, "RuntimeError"
      end
    end

    private

    def error
      begin
        raise ArgumentError, "inner"
      rescue ArgumentError
        raise "outer"
      end
    rescue RuntimeError => e
      e
    end
  end
end
