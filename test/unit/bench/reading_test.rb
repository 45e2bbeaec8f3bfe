# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/readers"

class BenchReadingTest < Minitest::Test
  BODY = "x" * 100_000

  def test_an_answer_of_known_length_is_whole_at_its_end
    reading = read("HTTP/1.1 200 OK\r\nContent-Length: #{BODY.bytesize}\r\n\r\n#{BODY}")

    assert reading.fetch(:whole)
    assert_operator reading.fetch(:first), :<=, reading.fetch(:last)
  end

  def test_a_chunked_answer_ends_with_its_last_chunk
    chunk = "#{BODY.bytesize.to_s(16)}\r\n#{BODY}\r\n"

    assert read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n#{chunk}0\r\n\r\n").fetch(:whole)
  end

  def test_an_answer_that_breaks_off_or_refuses_is_not_whole
    refute read("HTTP/1.1 200 OK\r\nContent-Length: #{BODY.bytesize + 1}\r\n\r\n#{BODY}").fetch(:whole)
    refute read("HTTP/1.1 503 No\r\nContent-Length: #{BODY.bytesize}\r\n\r\n#{BODY}").fetch(:whole)
  end

  def test_a_rate_is_kept
    reading = read("HTTP/1.1 200 OK\r\nContent-Length: #{BODY.bytesize}\r\n\r\n#{BODY}", rate: 1_000_000)

    assert_operator reading.fetch(:last) - reading.fetch(:first), :>=, 0.09
  end

  private

  # What one client makes of these bytes.
  def read(bytes, rate: nil)
    listener = TCPServer.new("127.0.0.1", 0)
    served = Thread.new do
      socket = listener.accept
      socket.readline("\r\n\r\n")
      socket.write(bytes)
      socket.close
    end
    Bench::Readers.new(listener.addr[1])
                  .read(count: 1, path: "/", rate: rate, body_bytes: BODY.bytesize, seconds: 10).first
  ensure
    served.join
    listener.close
  end
end
