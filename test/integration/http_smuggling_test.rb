# frozen_string_literal: true

require "test_helper"
require "support/refusals"

# Bodies whose end two servers could see in two places: one of each kind. The tests of carat-guard have the others.
class HttpSmugglingTest < Support::Refusals
  SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

  serves Support::Probe::APP

  class << self
    # A POST with these header lines, and a body that hides a request.
    def post(lines, body = "0\r\n\r\n#{SMUGGLED}")
      "POST /smuggler HTTP/1.1\r\nHost: a\r\n#{lines}\r\n\r\n#{body}"
    end

    def chunked(body)
      post("Transfer-Encoding: chunked", body)
    end
  end

  # Content-Length: CVE-2022-24790, CVE-2023-40175, CVE-2023-38697, CVE-2020-7670
  refuses "a_repeated_content_length", post("Content-Length: 5\r\nContent-Length: 5")
  refuses "a_second_content_length_that_differs", post("Content-Length: 5\r\nContent-Length: 50")
  refuses "a_blank_content_length", post("Content-Length:")
  refuses "a_content_length_with_a_plus", post("Content-Length: +5")
  refuses "a_content_length_that_overflows_64_bits", post("Content-Length: 18446744073709551621")

  # Both framings: RFC 9112, 6.3 allows 400 for any message that has both
  refuses "a_content_length_before_a_transfer_encoding", post("Content-Length: 5\r\nTransfer-Encoding: chunked")
  refuses "a_content_length_behind_a_transfer_encoding", post("Transfer-Encoding: chunked\r\nContent-Length: 5")

  # Transfer-Encoding: CVE-2020-11076
  refuses "a_repeated_transfer_encoding", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked")
  refuses "chunked_that_is_not_last", post("Transfer-Encoding: chunked, identity")
  refuses "a_transfer_encoding_without_chunked", post("Transfer-Encoding: gzip")
  refuses "a_coding_that_is_not_known", post("Transfer-Encoding: gzip, chunked"), status: 501
  refuses "a_transfer_encoding_in_http_1_0", "POST /smuggler HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"

  # Chunks: CVE-2022-24790, CVE-2023-40175, CVE-2024-21647, CVE-2023-38697
  refuses "a_chunk_size_with_0x", chunked("0x5\r\nhello\r\n0\r\n\r\n")
  refuses "a_chunk_size_that_overflows", chunked("10000000000000005\r\nhello\r\n0\r\n\r\n")
  refuses "a_chunk_size_that_ends_in_a_line_feed", chunked("5\nhello\r\n0\r\n\r\n")
  refuses "a_chunk_longer_than_its_size", chunked("5\r\nhello!\r\n0\r\n\r\n")
  refuses "a_chunk_that_ends_in_a_line_feed", chunked("5\r\nhello\n0\r\n\r\n")
  refuses "a_nul_in_a_chunk_extension", chunked("5;a\0\r\nhello\r\n0\r\n\r\n")
  refuses "chunk_extensions_without_an_end", chunked("5;#{"a" * 20_000}\r\nhello\r\n0\r\n\r\n")
  refuses "a_trailer_that_is_no_field", chunked("0\r\n#{SMUGGLED}")
  refuses "a_last_chunk_that_ends_in_a_line_feed", chunked("0\r\n\n")
end
