# frozen_string_literal: true

require "test_helper"
require "carat/response/header_list"

module Carat
  class HeaderListTest < Minitest::Test
    def test_names_and_values_become_alternating_strings
      assert_equal %w[a 1 b x b y c] << "", flatten({ a: 1, "b" => %w[x y], "c" => nil })
      assert_equal %w[a 1], flatten([["a", 1]])
    end

    def test_headers_need_only_each
      headers = Object.new
      def headers.each
        yield "a", "1"
        yield ["b", "2"]
      end
      assert_equal %w[a 1 b 2], flatten(headers)
    end

    def test_headers_for_the_server_are_omitted
      assert_equal %w[a 1], flatten({ "rack.hijack" => -> {}, "a" => "1" })
    end

    def test_headers_without_each_are_rejected
      error = assert_raises(Native::InvalidResponse) { flatten(nil) }
      assert_equal "the headers are NilClass, without each", error.message
    end

    private

    def flatten(headers)
      Response::HeaderList.flatten(headers)
    end
  end
end
