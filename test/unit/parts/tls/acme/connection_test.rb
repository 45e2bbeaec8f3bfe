# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../support/hostile_authority"
require "carat/parts/tls/acme/connection"

module Carat
  class ACMEConnectionTest < Minitest::Test
    def teardown
      @authority&.close
    end

    def test_a_response_is_read_as_it_is_and_says_when_to_come_back
      answer = get("HTTP/1.1 503 Later\r\nRetry-After: 7\r\nContent-Length: 4\r\nContent-Encoding: gzip\r\n\r\nbody")

      assert_equal [503, 7, "body"], [answer.status, answer.retry_after, answer.body]
    end

    def test_a_wait_that_the_authority_asks_for_is_at_most_a_day
      { "999999999" => 86_400, "-1" => 0, "soon" => 0, "Thu, 01 Jan 1970 00:00:00 GMT" => 0,
        "Thu, 01 Jan 2099 00:00:00 GMT" => 86_400 }.each do |text, seconds|
        answer = get("HTTP/1.1 200 OK\r\nRetry-After: #{text}\r\nContent-Length: 0\r\n\r\n")
        assert_equal seconds, answer.retry_after, text
      end
    end

    def test_an_authority_that_hangs_is_given_up
      ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx"].each do |part|
        assert_equal "localhost: no response in time", refusal(part, total: 0.2) { |socket| socket.read(1) }
      end
    end

    def test_an_authority_that_drips_is_given_up
      dripping = lambda do |socket|
        loop { socket.write("x") && socket.wait_readable(0.01) }
      end

      assert_equal "localhost: no response in time",
                   refusal("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", total: 0.2, &dripping)
    end

    # What never ends: a body, a line, header fields, responses before the last one, and what is between chunks.
    ENDLESS = {
      "HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n" => ["x", 256],
      "HTTP/1.1 200 OK\r\n\r\n" => ["x", 256],
      "HTTP/1.1 200 " => ["x", 64],
      "HTTP/1.1 200 OK\r\nX: " => ["x", 64],
      "HTTP/1.1 200 OK\r\n" => ["X: y\r\n", 64],
      "HTTP/1.1 100 Continue\r\n\r\n" => ["HTTP/1.1 100 Continue\r\n\r\n", 64],
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" => ["1\r\nx\r\n", 256],
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" => ["x", 256],
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" => ["X: y\r\n", 256]
    }.freeze

    ENDLESS.each_with_index do |(start, (piece, kibibytes)), index|
      define_method("test_an_endless_response_ends_at_the_limit_#{index}") do
        endless = ->(socket) { loop { socket.write(piece * 4096) } }

        assert_equal "localhost: the response is larger than #{kibibytes} KiB", refusal(start, &endless)
      end
    end

    def test_garbage_is_a_sentence
      ["\0\xFF garbage \r\n\r\n".b, "HTTP/1.1 OK\r\n\r\n", "x" * 10_000].each do |garbage|
        assert_match(/\Alocalhost: [[:print:]]+\z/, refusal(garbage))
      end
    end

    def test_only_https_is_spoken
      ["http://localhost/", "file:///etc/passwd", nil, "x y", "https://"].each do |url|
        error = assert_raises(ACME::ACMEError) { ACME::Connection.new.get(url) }
        assert_match(/is not (?:an https|a) URL/, error.message)
      end
    end

    private

    def get(response, **options, &)
      @authority&.close
      @authority = Support::HostileAuthority.new(response, &)
      ACME::Connection.new(authorities: @authority.certificate_path, **options).get(@authority.url)
    end

    def refusal(...)
      assert_raises(ACME::ACMEError) { get(...) }.message
    end
  end
end
