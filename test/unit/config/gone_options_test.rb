# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/gone_options"

module Carat
  class GoneOptionsTest < Minitest::Test
    def test_each_spelling_of_a_gone_option_gets_its_sentence
      %w[canary_by --canary-by --no-canary-by CARAT_CANARY_BY].each do |word|
        assert_equal "; it is gone: a load balancer keeps a client with its code", Config::GoneOptions.hint(word)
      end
      %w[workers --canaries CARAT_WORKERS].each { |word| assert_empty Config::GoneOptions.hint(word) }
    end
  end
end
