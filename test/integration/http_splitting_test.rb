# frozen_string_literal: true

require "rack"
require "test_helper"

# Response splitting (CVE-2020-5247): what the application writes into a header cannot become a line of its own.
class HttpSplittingTest < Support::SharedServerTest
  # Rack 2 writes several values of a header as lines of one String.
  LINES_ARE_VALUES = Rack.release.start_with?("2.")

  serves <<~'RUBY'
    bodies = { "array" => ["body"], "stream" => Enumerator.new { |out| out << "body" }, "file" => File.open(__FILE__) }

    # /BODY?NAME&VALUE answers with that header; both are written in hexadecimal.
    run lambda { |env|
      name, value = env["QUERY_STRING"].split("&").map { |text| [text].pack("H*") }
      [200, { name => value }, bodies.fetch(env["PATH_INFO"][1..])]
    }
  RUBY

  ["a\r\nevil: x", "a\rb", "a\r", "\r\n\r\n<evil>", "a\0b", "a\x7fb", "a\r\n evil", "\e[2J"].each do |value|
    %w[array stream file].each do |body|
      define_method("test_#{value.dump}_in_a_value_of_an_answer_with_a_#{body}_is_an_internal_server_error") do
        assert_refused(body, "location", value)
      end
    end
  end

  ["a\r\nevil", "a\nevil", "a\r", "a b", "a:b", "a\0", ""].each do |name|
    define_method("test_#{name.dump}_as_a_name_is_an_internal_server_error") do
      %w[array stream file].each { |body| assert_refused(body, name, "x") }
    end
  end

  def test_a_line_feed_separates_values_or_is_refused
    %w[array stream file].each do |body|
      next assert_refused(body, "x-odd", "a\nevil: x") unless LINES_ARE_VALUES

      assert_equal ["a", "evil: x"], ask(body, "x-odd", "a\nevil: x").values("x-odd")
    end
  end

  def test_tabs_and_bytes_that_are_no_ascii_are_sent_as_they_are
    assert_equal "a\tb\u00fc".b, ask("array", "x-odd", "a\tb\u00fc")["x-odd"]
  end

  private

  def ask(body, name, value, verb: "GET")
    server.request(verb, "/#{body}?#{name.unpack1("H*")}&#{value.unpack1("H*")}")
  end

  def assert_refused(body, name, value)
    %w[GET HEAD].each do |verb|
      before = log
      response = ask(body, name, value, verb: verb)

      assert_equal 500, response.status
      refute_match(/evil/, response.to_a.flatten.join)
      eventually { assert_match(%r{#{verb} /#{body}.*header}, log.delete_prefix(before)) }
    end
  end
end
