# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"
require_relative "../one_connection"

class BenchPacedReadersTest < Minitest::Test
  include OneConnection

  BODY = "x" * 100_000
  WITH_LENGTH = "HTTP/1.1 200 OK\r\nContent-Length: #{BODY.bytesize}\r\n\r\n#{BODY}".freeze

  def test_a_response_of_known_length_is_complete_at_its_end
    get = read(WITH_LENGTH)

    assert get.fetch(:complete)
    assert_operator get.fetch(:first), :<=, get.fetch(:last)
  end

  def test_a_chunked_response_ends_with_its_last_chunk
    chunk = "#{BODY.bytesize.to_s(16)}\r\n#{BODY}\r\n"

    assert read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n#{chunk}0\r\n\r\n").fetch(:complete)
  end

  def test_a_truncated_response_or_another_status_is_not_complete
    refute read(WITH_LENGTH[0...-1]).fetch(:complete)
    refute read(WITH_LENGTH.sub("200 OK", "503 No")).fetch(:complete)
  end

  def test_a_rate_is_kept
    get = read(WITH_LENGTH, rate: 1_000_000)

    assert_operator get.fetch(:last) - get.fetch(:first), :>=, 0.09
  end

  private

  # What one client makes of these bytes.
  def read(bytes, rate: nil)
    gets = nil
    responding(bytes) do |port|
      gets = Bench::PacedReaders.new(port).read(count: 1, path: "/", rate: rate, body_bytes: BODY.bytesize, seconds: 9)
    end
    gets.first
  end
end
