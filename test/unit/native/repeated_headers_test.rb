# frozen_string_literal: true

require "test_helper"

module Native
  # Requests whose headers have the names of earlier ones: their environments are copied from a Hash that has the keys.
  class RepeatedHeadersTest < Support::NativeTest
    BROWSER = { "host" => "h", "user-agent" => "a", "accept" => "b", "cookie" => "c=1" }.freeze

    def setup
      super
      @lane = harness
    end

    def test_values_are_those_of_their_request
      4.times do |number|
        env = take(BROWSER.transform_values { |value| "#{value}#{number}" }, path: "/#{number}")
        assert_equal ["h#{number}", "a#{number}", "b#{number}", "c=1#{number}", "/#{number}"],
                     env.values_at("HTTP_HOST", "HTTP_USER_AGENT", "HTTP_ACCEPT", "HTTP_COOKIE", "PATH_INFO")
      end
    end

    def test_a_header_that_is_missing_leaves_no_key
      3.times { take(BROWSER) }
      env = take(BROWSER.except("cookie"))
      refute_includes env, "HTTP_COOKIE"
      assert_equal %w[h a b], env.values_at("HTTP_HOST", "HTTP_USER_AGENT", "HTTP_ACCEPT")
    end

    def test_names_in_another_order_have_their_own_values
      3.times { take(BROWSER) }
      3.times { assert_equal BROWSER.values, values_of(take(BROWSER.to_a.reverse.to_h)) }
    end

    def test_what_an_application_does_to_its_environment_stays_there
      expected = comparable(take(BROWSER))
      4.times do
        env = take(BROWSER)
        assert_equal expected, comparable(env)
        env.each_value { |value| value << "changed" if value.is_a?(String) && !value.frozen? }
        env.delete("HTTP_COOKIE")
        env["HTTP_HOST"] = "evil"
        env["mine"] = true
      end
    end

    def test_unknown_names_come_beside_the_known_ones
      4.times do |number|
        env = take({ "x-first" => "1#{number}", **BROWSER, "version" => "evil", "x-last" => "2" })
        assert_equal ["1#{number}", "2", "HTTP/1.1"], env.values_at("HTTP_X_FIRST", "HTTP_X_LAST", "HTTP_VERSION")
        assert_equal BROWSER.values, values_of(env)
      end
      refute_includes take(BROWSER), "HTTP_X_FIRST"
    end

    def test_more_known_names_than_a_shape_has
      headers = Support::Wire::NAMES.to_h { |name| [name, "v of #{name}"] }
      first, *others = Array.new(3) { comparable(take(headers)) }
      assert_equal "v of x-xss-protection", first["HTTP_X_XSS_PROTECTION"]
      others.each { |env| assert_equal first, env }
    end

    def test_more_shapes_than_are_kept
      names = Support::Wire::NAMES.first(20) - %w[content-length]
      2.times do
        names.each do |name|
          3.times { assert_includes take({ name => "of #{name}" }).values, "of #{name}" }
        end
      end
    end

    def test_keys_are_the_very_strings_of_literals
      env = Array.new(3) { take(BROWSER) }.last
      %w[REQUEST_METHOD HTTP_HOST HTTP_COOKIE].each do |literal|
        assert_same(-literal, env.keys.find { |key| key == literal })
      end
    end

    def test_the_length_is_that_of_the_body
      3.times { assert_equal "0", take(BROWSER.merge("content-length" => "0"))["CONTENT_LENGTH"] }
      env = take(BROWSER.merge("content-length" => "9"), body: "abc")
      assert_equal %w[3 abc], [env["CONTENT_LENGTH"], env["rack.input"].read]
    end

    def test_a_request_over_tls_says_so
      3.times { take(BROWSER) }
      assert_equal %w[https on], take(BROWSER, scheme: "https").values_at("rack.url_scheme", "HTTPS")
      assert_equal ["http", nil], take(BROWSER).values_at("rack.url_scheme", "HTTPS")
    end

    def test_the_application_can_take_over_only_where_it_may
      seen = [11, 11, 11, 20, 20, 20, 11].map { |version| take(BROWSER, version: version) }
      assert_equal [true, true, true, false, false, false, true], (seen.map { |env| env["rack.hijack?"] })
      assert_equal [1, 1, 1, 0, 0, 0, 1], (seen.map { |env| env.count { |key, _| key == "rack.hijack" } })
    end

    private

    def take(headers, **request)
      @lane.request(headers: headers, **request)
      @lane.slot.take.tap { @lane.slot.respond(200, {}, []) }
    end

    def values_of(env)
      env.values_at("HTTP_HOST", "HTTP_USER_AGENT", "HTTP_ACCEPT", "HTTP_COOKIE")
    end

    def comparable(env)
      env.except("rack.hijack", "rack.input", "rack.errors").transform_values(&:dup)
    end
  end
end
