# frozen_string_literal: true

require "test_helper"
require "support/refusals"

# Heads that two servers could read in two ways, and bytes that are no head at all: one of each kind. The tests of
# carat-guard have the others.
class HttpSyntaxTest < Support::Refusals
  HOST = "Host: a\r\n"
  SMUGGLED = "GET /smuggled HTTP/1.1\r\n#{HOST}\r\n"

  serves Support::Probe::APP

  # A GET with these header lines, and another request behind it.
  def self.get(lines)
    "GET /smuggler HTTP/1.1\r\n#{lines}\r\n#{SMUGGLED}"
  end

  # Line ends and field lines: CVE-2021-41136
  refuses "a_line_feed_behind_a_header", get("Host: a\n")
  refuses "a_line_feed_that_ends_the_head", get("#{HOST}X: y\r\n\n")
  refuses "a_carriage_return_in_a_value", get("#{HOST}X: a\rb\r\n")
  refuses "a_nul_in_a_value", get("#{HOST}X: a\0b\r\n")
  refuses "a_name_that_is_no_token", get("#{HOST}X(y): a\r\n")
  refuses "a_folded_header", get("#{HOST}X: a\r\n b\r\n")
  refuses "a_space_before_a_colon", get("#{HOST}X : a\r\n")
  refuses "a_space_before_the_colon_of_a_framing_header", get("#{HOST}Transfer-Encoding : chunked\r\n")
  refuses "a_header_without_a_colon", get("#{HOST}X\r\n")

  # Host: RFC 9112, 3.2
  refuses "a_missing_host", get("X: a\r\n")
  refuses "a_repeated_host", get("#{HOST}Host: a\r\n")
  refuses "a_host_with_a_user", get("Host: user@a\r\n")
  refuses "a_host_with_a_port_too_high", get("Host: a:65536\r\n")

  # Request lines
  refuses "two_spaces_before_the_target", "GET  /smuggler HTTP/1.1\r\n#{HOST}\r\n"
  refuses "a_nul_in_a_target", "GET /smuggler\0 HTTP/1.1\r\n#{HOST}\r\n"
  refuses "a_fragment_in_a_target", "GET /smuggler#x HTTP/1.1\r\n#{HOST}\r\n"
  refuses "a_target_without_a_slash", "GET smuggler HTTP/1.1\r\n#{HOST}\r\n"
  refuses "an_asterisk_for_a_get", "GET * HTTP/1.1\r\n#{HOST}\r\n"
  refuses "a_method_that_is_no_token", "G(T /smuggler HTTP/1.1\r\n#{HOST}\r\n"
  refuses "a_request_line_without_a_version", "GET /smuggler\r\n\r\n"
  refuses "a_version_that_is_none", "GET /smuggler HTTP/1.x\r\n#{HOST}\r\n"
  refuses "too_many_blank_lines", "\r\n\r\n\r\nGET /smuggler HTTP/1.1\r\n#{HOST}\r\n"
  refuses "version_2_1", "GET /smuggler HTTP/2.1\r\n#{HOST}\r\n", status: 505
  refuses "connect", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n#{SMUGGLED}", status: 501
  refuses "a_method_without_an_end", "#{"X" * 40} /smuggler HTTP/1.1\r\n#{HOST}\r\n", status: 501

  # No HTTP at all: CVE-2026-47736 (a PROXY line where none is expected)
  refuses "garbage", "\xde\xad\xbe\xef\0\1\2\3" * 100
  refuses "a_tls_client_hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03#{"\xab" * 32}"
  refuses "a_proxy_line", "PROXY TCP4 1.2.3.4 5.6.7.8 1 80\r\nGET /smuggler HTTP/1.1\r\n#{HOST}\r\n"
end
