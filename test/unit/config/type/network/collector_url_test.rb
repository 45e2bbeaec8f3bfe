# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/type"

module Carat
  class CollectorURLTest < Minitest::Test
    def test_the_address_and_the_share_are_read
      plain = { host: "127.0.0.1", port: 4318, path: "", sample: 1.0 }

      assert_equal plain, type.parse("http://127.0.0.1:4318")
      assert_equal plain.merge(host: "::1", path: "/otlp", sample: 0.1), type.parse("http://[::1]:4318/otlp/?sample=0.1")
      assert_equal "http://[::1]:1/a?sample=0.5", type.text(type.parse("http://[::1]:1/a?sample=0.5"))
    end

    def test_other_urls_are_refused
      ["https://collector:4318", "http://collector", "http://collector:99999", "http://a:1?sample=2", "http://a:1?x=1",
       "http://a:b@c:1", "http://[::1:4318", "a:1", "http://a:1\nx", nil].each do |url|
        assert_raises(Config::InvalidValue, url) { type.parse(url) }
      end
    end

    def test_a_share_that_is_none_is_named
      %w[10 2 .5 10% x].each do |share|
        error = assert_raises(Config::InvalidValue) { type.parse("http://a:1?sample=#{share}") }
        assert_equal "\"http://a:1?sample=#{share}\": sample is a share from 0 to 1, such as 0.1", error.message
      end
    end

    private

    def type = Config::Type.build(:collector)
  end
end
