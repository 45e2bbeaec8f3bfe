# frozen_string_literal: true

require "test_helper"
require "support/refusals"

# Bodies whose end two servers could see in two places.
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
  refuses "a_content_length_list", post("Content-Length: 5, 5")
  refuses "a_content_length_list_that_differs", post("Content-Length: 5, 50")
  refuses "a_blank_content_length", post("Content-Length:")
  refuses "a_content_length_of_spaces", post("Content-Length:  \t ")
  refuses "a_content_length_with_a_plus", post("Content-Length: +5")
  refuses "a_negative_content_length", post("Content-Length: -5")
  refuses "a_hexadecimal_content_length", post("Content-Length: 0x5")
  refuses "a_content_length_with_an_underscore", post("Content-Length: 1_0")
  refuses "a_content_length_with_a_fraction", post("Content-Length: 5.0")
  refuses "a_content_length_with_an_exponent", post("Content-Length: 1e1")
  refuses "a_content_length_with_a_space_inside", post("Content-Length: 5 5")
  refuses "a_content_length_with_text_behind_it", post("Content-Length: 5x")
  refuses "a_content_length_in_quotes", post('Content-Length: "5"')
  refuses "a_content_length_in_other_digits", post("Content-Length: \u0665")
  refuses "a_content_length_that_overflows_64_bits", post("Content-Length: 18446744073709551621")
  refuses "a_content_length_that_overflows_a_file_offset", post("Content-Length: 9223372036854775808")
  refuses "a_content_length_with_a_vertical_tab", post("Content-Length: \v5")

  # Both framings: RFC 9112, 6.3 allows 400 for any message that has both
  refuses "a_content_length_before_a_transfer_encoding", post("Content-Length: 5\r\nTransfer-Encoding: chunked")
  refuses "a_content_length_behind_a_transfer_encoding", post("Transfer-Encoding: chunked\r\nContent-Length: 5")
  refuses "a_content_length_of_zero_beside_a_transfer_encoding", post("Content-Length: 0\r\nTransfer-Encoding: chunked")
  refuses "a_content_length_beside_an_unknown_coding", post("Content-Length: 5\r\nTransfer-Encoding: x, chunked")

  # Transfer-Encoding: CVE-2020-11076
  refuses "a_repeated_transfer_encoding", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked")
  refuses "a_repeated_transfer_encoding_that_differs", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity")
  refuses "chunked_twice_in_a_list", post("Transfer-Encoding: chunked, chunked")
  refuses "chunked_that_is_not_last", post("Transfer-Encoding: chunked, identity")
  refuses "a_transfer_encoding_of_identity", post("Transfer-Encoding: identity")
  refuses "a_transfer_encoding_without_chunked", post("Transfer-Encoding: gzip")
  refuses "a_blank_transfer_encoding", post("Transfer-Encoding:")
  refuses "a_transfer_encoding_list_with_a_hole", post("Transfer-Encoding: , chunked")
  refuses "a_transfer_encoding_that_ends_in_a_comma", post("Transfer-Encoding: chunked,")
  refuses "a_transfer_encoding_in_quotes", post('Transfer-Encoding: "chunked"')
  refuses "a_transfer_encoding_with_a_parameter", post("Transfer-Encoding: chunked;q=1")
  refuses "a_transfer_encoding_with_a_prefix", post("Transfer-Encoding: xchunked")
  refuses "a_transfer_encoding_with_a_suffix", post("Transfer-Encoding: chunkedx")
  refuses "a_transfer_encoding_with_a_vertical_tab", post("Transfer-Encoding: \vchunked")
  refuses "a_transfer_encoding_with_a_nul", post("Transfer-Encoding: chunked\0")
  refuses "a_coding_that_is_not_known", post("Transfer-Encoding: gzip, chunked"), status: 501
  refuses "a_transfer_encoding_in_http_1_0", "POST /smuggler HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"

  # Chunks: CVE-2022-24790, CVE-2023-40175, CVE-2024-21647, CVE-2023-38697
  refuses "a_chunk_size_with_0x", chunked("0x5\r\nhello\r\n0\r\n\r\n")
  refuses "a_chunk_size_with_a_plus", chunked("+5\r\nhello\r\n0\r\n\r\n")
  refuses "a_negative_chunk_size", chunked("-5\r\nhello\r\n0\r\n\r\n")
  refuses "a_chunk_size_with_an_underscore", chunked("1_0\r\n#{"x" * 16}\r\n0\r\n\r\n")
  refuses "a_chunk_size_that_overflows", chunked("10000000000000005\r\nhello\r\n0\r\n\r\n")
  refuses "a_chunk_size_beyond_a_file_offset", chunked("8000000000000000\r\nhello\r\n0\r\n\r\n")
  refuses "a_chunk_size_of_many_zeros", chunked("#{"0" * 17}\r\n\r\n")
  refuses "a_missing_chunk_size", chunked("\r\nhello\r\n0\r\n\r\n")
  refuses "a_chunk_size_that_is_none", chunked("g\r\nhello\r\n0\r\n\r\n")
  refuses "a_space_before_a_chunk_size", chunked(" 5\r\nhello\r\n0\r\n\r\n")
  refuses "a_space_behind_a_chunk_size", chunked("5 \r\nhello\r\n0\r\n\r\n")
  refuses "a_chunk_size_that_ends_in_a_line_feed", chunked("5\nhello\r\n0\r\n\r\n")
  refuses "a_chunk_size_that_ends_in_a_carriage_return", chunked("5\rhello\r\n0\r\n\r\n")
  refuses "a_chunk_longer_than_its_size", chunked("5\r\nhello!\r\n0\r\n\r\n")
  refuses "a_chunk_that_ends_in_a_line_feed", chunked("5\r\nhello\n0\r\n\r\n")
  refuses "a_chunk_that_ends_in_a_carriage_return", chunked("5\r\nhello\r0\r\n\r\n")
  refuses "a_line_feed_in_a_chunk_extension", chunked("5;a\nb\r\nhello\r\n0\r\n\r\n")
  refuses "a_nul_in_a_chunk_extension", chunked("5;a\0\r\nhello\r\n0\r\n\r\n")
  refuses "chunk_extensions_without_an_end", chunked("5;#{"a" * 20_000}\r\nhello\r\n0\r\n\r\n")
  refuses "many_small_chunk_extensions", chunked("#{"1;#{"a" * 30}\r\nx\r\n" * 600}0\r\n\r\n")
  refuses "a_trailer_that_is_no_field", chunked("0\r\n#{SMUGGLED}")
  refuses "a_trailer_that_ends_in_a_line_feed", chunked("0\r\nx: y\n\r\n")
  refuses "a_folded_trailer", chunked("0\r\nx: y\r\n z\r\n\r\n")
  refuses "a_last_chunk_that_ends_in_a_line_feed", chunked("0\r\n\n")
end
