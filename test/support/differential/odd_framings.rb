# frozen_string_literal: true

module Support
  module Differential
    # Content-Length and Transfer-Encoding that some servers read and others do not, or differently.
    module OddFramings
      CODINGS = {
        "plain" => "Transfer-Encoding: chunked",
        "space before the colon" => "Transfer-Encoding : chunked",
        "tab before the value" => "Transfer-Encoding:\tchunked",
        "vertical tab before the value" => "Transfer-Encoding:\vchunked",
        "form feed behind the value" => "Transfer-Encoding: chunked\f",
        "NUL behind the value" => "Transfer-Encoding: chunked\0",
        "no space" => "Transfer-Encoding:chunked",
        "space at the end" => "Transfer-Encoding: chunked ",
        "folded value" => "Transfer-Encoding:\r\n chunked",
        "folded behind another" => "X: y\r\n Transfer-Encoding: chunked",
        "space before the name" => " Transfer-Encoding: chunked",
        "behind a bare LF" => "X: y\nTransfer-Encoding: chunked",
        "behind a bare CR" => "X: y\rTransfer-Encoding: chunked",
        "ended by a bare LF" => "Transfer-Encoding: chunked\nX: y",
        "ended by two CR" => "Transfer-Encoding: chunked\r\r\nX: y",
        "another coding first" => "Transfer-Encoding: identity, chunked",
        "another coding last" => "Transfer-Encoding: chunked, identity",
        "twice in a list" => "Transfer-Encoding: chunked, chunked",
        "an empty element first" => "Transfer-Encoding: , chunked",
        "a comma at the end" => "Transfer-Encoding: chunked,",
        "two lines" => "Transfer-Encoding: chunked\r\nTransfer-Encoding: x",
        "two lines, chunked last" => "Transfer-Encoding: x\r\nTransfer-Encoding: chunked",
        "prefix" => "Transfer-Encoding: xchunked",
        "suffix" => "Transfer-Encoding: chunkedx",
        "parameter" => "Transfer-Encoding: chunked;q=1",
        "quotes" => "Transfer-Encoding: \"chunked\"",
        "upper case" => "TRANSFER-ENCODING: CHUNKED",
        "underscore" => "Transfer_Encoding: chunked",
        "a letter that folds to k" => "Transfer-Encoding: chun\u212Aed",
        "no value" => "Transfer-Encoding:",
        "gzip" => "Transfer-Encoding: gzip, chunked",
        "a word" => "Transfer-Encoding: cow",
        "TE and trailers" => "TE: trailers\r\nTransfer-Encoding: chunked",
        "named by Connection" => "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked"
      }.freeze

      LENGTHS = ["+5", "-5", "0x5", "5, 5", "5,6", "5\r\nContent-Length: 5", "5\r\nContent-Length: 6", "05", " 5 ",
                 "5.0", "5 6", "\v5", "5\0", "", "18446744073709551621", "5\nX: y", "\"5\"", "5;x", "\u0665"].freeze
    end
  end
end
