# frozen_string_literal: true

require "test_helper"
require "carat/error_report"

class ErrorReportTest < Minitest::Test
  ENV_OF_REQUEST = { "REQUEST_METHOD" => "GET", "REQUEST_PATH" => "/x" }.freeze

  def test_an_error_is_told_with_its_request_its_place_and_its_cause
    text = Carat::ErrorReport.new(error, ENV_OF_REQUEST).to_s
    assert_match(%r{\AGET /x: .*error_report_test.rb:\d+:in .*outer \(RuntimeError\)$}, text)
    assert_includes text, "inner (ArgumentError)"
    assert text.end_with?("\n")
  end

  def test_without_a_request_it_begins_with_the_place
    assert_match(/\A\S+error_report_test.rb/, Carat::ErrorReport.new(error).to_s)
  end

  def test_an_invalid_response_needs_no_backtrace
    invalid = Carat::Native::InvalidResponse.new("no good")
    assert_equal "GET /x: no good\n", Carat::ErrorReport.new(invalid, ENV_OF_REQUEST).to_s
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
