# frozen_string_literal: true

require "test_helper"

module Native
  class RequestTest < Support::NativeTest
    def test_the_line_and_the_peer_are_in_the_environment
      env = env_of(method: "PATCH", path: "/a%20b/%C3%A9", query: "q=1&r=%20", server: ["example.org", 8080],
                   remote: "10.0.0.7")
      expected = {
        "REQUEST_METHOD" => "PATCH", "PATH_INFO" => "/a%20b/%C3%A9", "QUERY_STRING" => "q=1&r=%20",
        "REQUEST_PATH" => "/a%20b/%C3%A9", "REQUEST_URI" => "/a%20b/%C3%A9?q=1&r=%20", "SCRIPT_NAME" => "",
        "SERVER_NAME" => "example.org", "SERVER_PORT" => "8080", "REMOTE_ADDR" => "10.0.0.7",
        "SERVER_PROTOCOL" => "HTTP/1.1", "HTTP_VERSION" => "HTTP/1.1"
      }
      assert_equal expected, env.slice(*expected.keys)
    end

    def test_header_names_become_keys
      env = env_of(headers: { "host" => "h", "content-type" => "text/plain", "content-length" => "0", "x-odd.1~" => "1",
                              "x#{'-y' * 200}" => "long", "cookie" => "a=1; b=2" })
      assert_equal %w[h text/plain 0 1 long] + ["a=1; b=2"],
                   env.values_at("HTTP_HOST", "CONTENT_TYPE", "CONTENT_LENGTH", "HTTP_X_ODD.1~",
                                 "HTTP_X#{'_Y' * 200}", "HTTP_COOKIE")
      assert_empty env.keys & %w[HTTP_CONTENT_TYPE HTTP_CONTENT_LENGTH]
    end

    def test_every_well_known_header_has_its_key
      env = env_of(headers: Support::Wire::NAMES.to_h { |name| [name, "v of #{name}"] })
      Support::Wire::NAMES.each do |name|
        key = name.upcase.tr("-", "_")
        assert_equal "v of #{name}", env[name.start_with?("content-type", "content-length") ? key : "HTTP_#{key}"]
      end
    end

    def test_values_are_binary_and_belong_to_their_request_alone
      env = env_of(path: "/\xE9", headers: { "x-odd" => "\xE9", "host" => "h" })
      values = env.reject { |key, _| key.include?(".") || %w[SCRIPT_NAME].include?(key) }.slice(
        "PATH_INFO", "REQUEST_PATH", "REQUEST_URI", "QUERY_STRING", "HTTP_X_ODD", "HTTP_HOST", "SERVER_NAME",
        "SERVER_PORT", "REMOTE_ADDR"
      ).values
      assert_equal 9, values.size
      assert_equal [Encoding::BINARY], values.map(&:encoding).uniq
      assert(values.none?(&:frozen?))
    end

    def test_keys_are_the_very_strings_of_literals
      env = env_of(headers: { "host" => "h", "x-odd" => "1" })
      %w[REQUEST_METHOD HTTP_HOST HTTP_X_ODD].each do |literal|
        assert_same(-literal, env.keys.find { |key| key == literal })
      end
    end

    def test_the_asterisk_is_the_empty_path_until_rack_allows_it
      seen = %w[2.2.22 3.0.1 3.1.0].map do |release|
        env_of(method: "OPTIONS", path: "*", release: release).values_at("PATH_INFO", "REQUEST_URI")
      end
      assert_equal [["", "*"], ["", "*"], ["*", "*"]], seen
    end

    def test_what_the_release_of_rack_wants
      old, new = %w[2.2.22 3.1.0].map { |release| env_of(release: release) }
      assert_equal [[1, 3], [], []], old.values_at("rack.version", "rack.response_finished", "rack.after_reply")
      assert_equal [nil, [], []], new.values_at("rack.version", "rack.response_finished", "rack.after_reply")
      assert_equal ["http", false, false, true], old.values_at("rack.url_scheme", "rack.run_once",
                                                               "rack.multithread", "rack.hijack?")
    end

    def test_the_request_that_begins_is_on_the_page
      lane = harness
      lane.native.hello(1, false)
      3.times { lane.request }
      3.times do |number|
        lane.slot.take
        assert_equal number + 1, lane.begun
        lane.slot.respond(200, {}, [])
      end
    end

    def test_a_request_that_was_recalled_is_skipped
      lane = harness
      lane.native.hello(1, false)
      %w[/first /recalled /next].each { |path| lane.request(path: path) }
      assert_equal "/first", lane.slot.take["PATH_INFO"]
      lane.recall(2)
      lane.slot.respond(200, {}, [])
      assert_equal "/next", lane.slot.take["PATH_INFO"]
    end

    def test_a_malformed_frame_is_an_error
      lane = harness
      lane.send_bytes([2, 16, 0].pack("L<CC"))
      assert_raises(Carat::Native::LinkError) { lane.slot.take }
    end

    def test_a_request_may_arrive_byte_by_byte
      lane = harness
      taken = Thread.new { lane.slot.take }
      Support::Wire.request(1, path: "/slow", headers: { "x-odd" => "1" }).each_char { |byte| lane.send_bytes(byte) }
      assert_equal %w[/slow 1], taken.value.values_at("PATH_INFO", "HTTP_X_ODD")
    end
  end
end
