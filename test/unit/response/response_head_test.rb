# frozen_string_literal: true

require "test_helper"
require "carat/response/response_head"

module Carat
  class ResponseHeadTest < Minitest::Test
    def test_headers_are_offered_as_they_are_and_then_flat
      offers = []
      Response::ResponseHead.new("201", { a: 1 }).offer do |*head|
        offers << head
        offers.size == 2
      end
      assert_equal [["201", { a: 1 }], [201, %w[a 1]]], offers
    end

    def test_declared_length
      lengths = [{ "Content-Length" => "12" }, { "content-length" => 12 }, [["CONTENT-LENGTH", "12"]],
                 { "content-length" => "many" }, { "x" => "1" }, nil].map do |headers|
        Response::ResponseHead.new(200, headers).content_length
      end
      assert_equal [12, 12, 12, nil, nil, nil], lengths
    end

    def test_statuses_without_a_body
      bodiless = [200, 204, "204", 205, 304, 404].map { |status| Response::ResponseHead.new(status, {}).bodiless? }
      assert_equal [false, true, true, true, true, false], bodiless
    end
  end
end
