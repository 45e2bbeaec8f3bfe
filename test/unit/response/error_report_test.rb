# frozen_string_literal: true

require "test_helper"
require "carat/response/error_report"

module Carat
  class ErrorReportTest < Minitest::Test
    ENV_OF_REQUEST = { "REQUEST_METHOD" => "GET", "REQUEST_PATH" => "/x" }.freeze

    def test_error_is_reported_with_its_request_place_and_cause
      text = Response::ErrorReport.new(error, ENV_OF_REQUEST).to_s
      assert_match(%r{\AGET /x: .*error_report_test.rb:\d+:in .*outer \(RuntimeError\)$}, text)
      assert_includes text, "inner (ArgumentError)"
      assert text.end_with?("\n")
    end

    def test_without_a_request_it_begins_with_the_place
      assert_match(/\A\S+error_report_test.rb/, Response::ErrorReport.new(error).to_s)
    end

    def test_invalid_response_needs_no_backtrace
      invalid = Native::InvalidResponse.new("no good")
      assert_equal "GET /x: no good\n", Response::ErrorReport.new(invalid, ENV_OF_REQUEST).to_s
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
