# frozen_string_literal: true

require_relative "content_codings"
require_relative "form_body"
require_relative "probe"

module Support
  # Requests at the bound of a limit, or beyond it.
  module LimitRequests
    MB = 1024 * 1024
    FORMS = %w[--multipart edge].freeze
    DECODING = %w[--decode-requests].freeze

    # By limit: arguments of the server, and the bytes of a request that is `extra` larger than the bound.
    TABLE = {
      max_body: [%w[--max-body 10], ->(extra) { post("x" * (10 + extra)) }],
      max_decoded_body: [[*DECODING, "--max-decoded-body", "1000"],
                         ->(extra) { coded("gzip", Zlib.gzip("x" * (1000 + extra))) }],
      # The ratio counts after a mebibyte.
      max_decode_ratio: [[*DECODING, "--max-decode-ratio", "20"],
                         ->(extra) { coded("gzip", Zlib.gzip("\0" * (MB + extra))) }],
      max_parts: [[*FORMS, "--max-parts", "3"], ->(extra) { form(*Array.new(3 + extra) { FormBody.field("a", "1") }) }],
      max_files: [[*FORMS, "--max-files", "2"], ->(extra) { form(*Array.new(2 + extra) { FormBody.file("a") }) }],
      # The headers of a part end with a blank line.
      max_part_header: [[*FORMS, "--max-part-header", "100"], lambda do |extra|
        head, content = FormBody.field("a", "1")
        form(["#{head}\r\nX: ".ljust(100 - 4 + extra, "x"), content])
      end],
      max_field_bytes: [[*FORMS, "--max-field-bytes", "100"], lambda do |extra|
        form(*{ "a" => 50, "b" => 50 + extra }.map { |name, bytes| FormBody.field(name, "x" * bytes) })
      end],
      max_header_bytes: [%w[--max-header-bytes 1000], lambda do |extra|
        "#{"GET / HTTP/1.1\r\nHost: a\r\nX: ".ljust(1000 - 4 + extra, "x")}\r\n\r\n"
      end],
      max_headers: [%w[--max-headers 10],
                    ->(extra) { "GET / HTTP/1.1\r\nHost: a\r\n#{"X: y\r\n" * (9 + extra)}\r\n" }],
      max_uri: [%w[--max-uri 100], ->(extra) { get("/".ljust(100 + extra, "x")) }],
      spool_limit: [%w[--inline-body-limit 0 --spool-limit 100000], ->(extra) { post("x" * (100_000 + extra)) }],
      blank_lines_limit: [[], ->(extra) { ("\r\n" * (2 + extra)) + get("/") }],
      method_limit: [[], ->(extra) { "#{"X" * (32 + extra)} / HTTP/1.1\r\nHost: a\r\n\r\n" }],
      chunk_extensions_limit: [[], ->(extra) { chunked("1#{";a".ljust((16 * 1024) + extra, "x")}\r\nx\r\n0\r\n\r\n") }],
      size_digits_limit: [[], ->(extra) { chunked("#{"1".rjust(16 + extra, "0")}\r\nx\r\n0\r\n\r\n") }],
      codings_limit: [DECODING, lambda do |extra|
        codings = Array.new(2 + extra, "gzip")
        coded(codings.join(", "), ContentCodings.encode("x", *codings))
      end],
      gzip_members_limit: [DECODING, ->(extra) { coded("gzip", Zlib.gzip("") * ((64 * 1024) + extra)) }],
      # A frame with a window of 2^23 bytes, and a block of one byte (RFC 8878, section 3.1.1).
      window_log: [DECODING, lambda do |extra|
        coded("zstd", [0xFD2FB528, 0, (23 + extra - 10) << 3, 9, 0, "x"].pack("L<CCCS<a*"))
      end],
      header_count_limit: [[], ->(extra) { get("/headers?#{1024 + extra}") }],
      name_limit: [[], ->(extra) { get("/name?#{1024 + extra}") }]
    }.freeze

    module_function

    def get(target)
      "GET #{target} HTTP/1.1\r\nHost: a\r\n\r\n"
    end

    def post(body, fields = "")
      "POST / HTTP/1.1\r\nHost: a\r\n#{fields}Content-Length: #{body.bytesize}\r\n\r\n".b << body.b
    end

    def chunked(body)
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n#{body}"
    end

    def coded(coding, body)
      post(body, "Content-Encoding: #{coding}\r\n")
    end

    def form(*parts)
      post(FormBody.form(*parts), "Content-Type: #{FormBody::TYPE}\r\n")
    end
  end
end
