# frozen_string_literal: true

require "test_helper"

# Requests that two servers could read in two ways, and bytes that are none at all: some of each kind. The tests of
# carat-guard have all.
class HttpSmugglingTest < Support::Refusals
  HOST = "Host: a\r\n"
  CHUNKED = "Transfer-Encoding: chunked"
  SMUGGLED = "GET /smuggled HTTP/1.1\r\n#{HOST}\r\n".freeze

  serves Support::Probe::APP

  class << self
    # A POST with these header lines, and a body that hides a request.
    def post(lines, body = "0\r\n\r\n#{SMUGGLED}")
      "POST /smuggler HTTP/1.1\r\nHost: a\r\n#{lines}\r\n\r\n#{body}"
    end

    # A GET with these header lines, and another request behind it.
    def get(lines)
      "GET /smuggler HTTP/1.1\r\n#{lines}\r\n#{SMUGGLED}"
    end
  end

  # The framing: CVE-2022-24790, CVE-2020-11076; RFC 9112, 6.3 allows 400 for any message that has both framings
  refuses "a_second_content_length_that_differs", post("Content-Length: 5\r\nContent-Length: 50")
  refuses "a_content_length_before_a_transfer_encoding", post("Content-Length: 5\r\nTransfer-Encoding: chunked")
  refuses "chunked_that_is_not_last", post("Transfer-Encoding: chunked, identity")
  refuses "a_coding_that_is_not_known", post("Transfer-Encoding: gzip, chunked"), status: 501
  refuses "a_space_before_the_colon_of_a_framing_header", get("#{HOST}Transfer-Encoding : chunked\r\n")

  # Chunks, while the body arrives: CVE-2023-38697, CVE-2024-21647
  refuses "a_chunk_size_with_0x", post(CHUNKED, "0x5\r\nhello\r\n0\r\n\r\n")
  refuses "chunk_extensions_without_an_end", post(CHUNKED, "5;#{"a" * 20_000}\r\nhello\r\n0\r\n\r\n")
  refuses "a_trailer_that_is_no_field", post(CHUNKED, "0\r\n#{SMUGGLED}")

  # Heads: CVE-2021-41136; RFC 9112, 3.2
  refuses "a_line_feed_behind_a_header", get("Host: a\n")
  refuses "a_nul_in_a_value", get("#{HOST}X: a\0b\r\n")
  refuses "a_missing_host", get("X: a\r\n")
  refuses "a_target_without_a_slash", "GET smuggler HTTP/1.1\r\n#{HOST}\r\n"
  refuses "too_many_blank_lines", "\r\n\r\n\r\nGET /smuggler HTTP/1.1\r\n#{HOST}\r\n"
  refuses "version_2_1", "GET /smuggler HTTP/2.1\r\n#{HOST}\r\n", status: 505
  refuses "connect", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n#{SMUGGLED}", status: 501

  # No HTTP at all: CVE-2026-47736 (a PROXY line where none is expected)
  refuses "garbage", "\xde\xad\xbe\xef\0\1\2\3" * 100
  refuses "a_tls_client_hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03#{"\xab" * 32}"
  refuses "a_proxy_line", "PROXY TCP4 1.2.3.4 5.6.7.8 1 80\r\nGET /smuggler HTTP/1.1\r\n#{HOST}\r\n"
end
