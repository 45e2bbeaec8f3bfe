# frozen_string_literal: true

require "carat/warmup/compilation"
require "test_helper"

module Carat
  class CompilationTest < Minitest::Test
    # A request that counts its runs and fails after `good` of them.
    Request = Struct.new(:good, :runs) do
      def run(**) = (self.runs += 1) <= good
    end

    def test_each_request_is_repeated_until_the_jit_has_compiled_it
      requests = run_both(jit: true)
      assert_equal [130, 130], requests.map(&:runs)
    end

    def test_nothing_is_repeated_without_a_jit
      assert_equal [0, 0], run_both(jit: false).map(&:runs)
    end

    def test_a_request_that_fails_is_not_repeated_again
      assert_equal [4, 130], run_both(first: Request.new(3, 0), jit: true).map(&:runs)
    end

    def test_nothing_begins_after_the_deadline
      assert_equal [0, 0], run_both(jit: true, deadline: 0).map(&:runs)
    end

    private

    def run_both(jit:, first: Request.new(1000, 0), deadline: Float::INFINITY)
      [first, Request.new(1000, 0)].tap { |requests| Warmup::Compilation.run(requests, deadline:, jit:) }
    end
  end
end
