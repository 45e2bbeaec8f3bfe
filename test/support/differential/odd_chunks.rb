# frozen_string_literal: true

module Support
  module Differential
    # Chunked bodies in which servers have found different ends. %<hidden>s is a request that one of them sees
    # behind the end; %<inner>x is the size of a chunk that contains it.
    module OddChunks
      ALL = {
        "extension ended by LF" => "2;\nxx\r\n%<inner>x\r\n0\r\n\r\n%<hidden>s\r\n0\r\n\r\n",
        "extension with LF inside" => "2;a\nxx\r\n%<inner>x\r\n0\r\n\r\n%<hidden>s\r\n0\r\n\r\n",
        "extension with CR inside" => "2;a\rxx\r\n%<inner>x\r\n0\r\n\r\n%<hidden>s\r\n0\r\n\r\n",
        "quoted extension with CRLF" => "2;a=\"\r\nxx\r\n0\r\n\r\n%<hidden>s\"\r\nxx\r\n0\r\n\r\n",
        "size ended by LF" => "2\nxx\r\n0\r\n\r\n%<hidden>s",
        "size ended by CR" => "2\rxx\r\n0\r\n\r\n%<hidden>s",
        "data ended by LF" => "2\r\nxx\n0\r\n\r\n%<hidden>s",
        "data ended by CR" => "2\r\nxx\r0\r\n\r\n%<hidden>s",
        "data without an end" => "2\r\nxx0\r\n\r\n%<hidden>s",
        "data longer than its size" => "2\r\nxxyy0\r\n\r\n%<hidden>s",
        "two bytes for CRLF" => "2\r\nxxyy%<inner>x\r\n0\r\n\r\n%<hidden>s\r\n0\r\n\r\n",
        "last chunk ended by LF" => "0\n\n%<hidden>s",
        "last chunk without a blank line" => "0\r\n%<hidden>s",
        "size with 0x" => "0x2\r\nxx\r\n0\r\n\r\n%<hidden>s",
        "size with a plus" => "+2\r\nxx\r\n0\r\n\r\n%<hidden>s",
        "negative size" => "-2\r\nxx\r\n0\r\n\r\n%<hidden>s",
        "size with an underscore" => "1_0\r\n0123456789abcdef\r\n0\r\n\r\n%<hidden>s",
        "space before the size" => " 2\r\nxx\r\n0\r\n\r\n%<hidden>s",
        "space behind the size" => "2 \r\nxx\r\n0\r\n\r\n%<hidden>s",
        "tab behind the size" => "2\t;a\r\nxx\r\n0\r\n\r\n%<hidden>s",
        "size that overflows 64 bits" => "10000000000000002\r\nxx\r\n0\r\n\r\n%<hidden>s",
        "size of many zeros" => "000000000000000000000\r\n\r\n%<hidden>s",
        "no size" => "\r\nxx\r\n0\r\n\r\n%<hidden>s",
        "trailer that is framing" => "0\r\nContent-Length: 50\r\nTransfer-Encoding: x\r\n\r\n%<hidden>s",
        "trailer ended by LF" => "0\r\nX: y\n\r\n%<hidden>s",
        "folded trailer" => "0\r\nX: y\r\n z\r\n\r\n%<hidden>s",
        "extensions by the RFC" => "2;a=b ; c=\"d;\\\"\"\r\nxx\r\n0;e\r\n\r\n%<hidden>s",
        "trailers by the RFC" => "2\r\nxx\r\n0\r\nX-Sum: 1\r\n\r\n%<hidden>s"
      }.freeze
    end
  end
end
