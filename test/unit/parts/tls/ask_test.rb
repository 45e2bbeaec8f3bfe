# frozen_string_literal: true

require "carat/config/configuration"
require "test_helper"

module Carat
  class AskTest < Minitest::Test
    ASK = Parts::TLS::ASK

    def test_a_path_is_one_of_the_application_and_a_url_one_of_another_server
      assert_equal({ server: nil, target: "/domains?key=1" }, ASK.parse("/domains?key=1"))
      { "http://127.0.0.1:3000/domains" => ["127.0.0.1", 3000, "/domains"], "http://app" => ["app", 80, "/"],
        "http://[::1]:81/?a=b" => ["::1", 81, "/?a=b"] }.each do |text, (host, port, target)|
        assert_equal({ server: { host:, port: }, target: }, ASK.parse(text), text)
      end
      assert_equal "http://[::1]:81/?a=b", ASK.text(ASK.parse("http://[::1]:81/?a=b"))
      assert_equal [nil, "off"], [ASK.parse("off"), ASK.text(nil)]
    end

    def test_what_cannot_be_asked_is_refused
      ["https://a.example/", "domains", "//a.example/x", "http://", "http://a:0/", "http://a:70000/", "http://u@a/",
       "/a b", "/a#b", "/a\r\nHost: b", "http://a/\u00e9", true].each do |value|
        assert_raises(Config::InvalidValue, value.inspect) { ASK.parse(value) }
      end
    end
  end
end
