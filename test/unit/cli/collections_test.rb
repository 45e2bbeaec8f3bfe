# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/collections"

module Carat
  class CollectionsTest < Minitest::Test
    def test_the_line_says_what_the_collections_stopped
      assert_equal "full collections: 12 between requests, 1 beside, 0 within (1.3 s); 3 requests waited",
                   CLI::Collections.line(report([12, 1.2], [1, 0.1], [0, 0.0], waited: 3))
    end

    def test_those_within_requests_say_why_they_did_not_wait
      assert_equal "full collections: 0 between requests, 0 beside, 9 within: 6 small heap, 2 application, 1 bound " \
                   "(0.9 s); 9 requests waited",
                   CLI::Collections.line(report([0, 0.0], [0, 0.0], [9, 0.9], waited: 9, haste: HASTE))
    end

    def test_a_server_without_collections_or_without_a_report_has_no_line
      assert_nil CLI::Collections.line(nil)
      assert_nil CLI::Collections.line(report([0, 0.0], [0, 0.0], [0, 0.0], waited: 0))
    end

    HASTE = { "bound" => 1, "small_heap" => 6, "application" => 2 }.freeze
    private_constant :HASTE

    private

    def report(*groups, waited:, haste: {})
      names = %w[between_requests beside_requests within_requests]
      counts = groups.map { |count, seconds| { "count" => count, "seconds" => seconds } }
      names.zip(counts).to_h.merge("waited_requests" => waited, "haste" => haste)
    end
  end
end
