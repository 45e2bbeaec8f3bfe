# frozen_string_literal: true

require_relative "content_codings"
require_relative "form_body"
require_relative "probe"

module Support
  # Requests at the bound of a limit, or beyond it: each method returns the arguments of the server and the bytes for a
  # request that is `extra` larger than the bound.
  module LimitRequests
    MB = 1024 * 1024
    FORMS = %w[--multipart edge].freeze
    DECODING = %w[--decode-requests].freeze

    module_function

    def max_body(extra)
      [%w[--max-body 10], post("x" * (10 + extra))]
    end

    def max_decoded_body(extra)
      [[*DECODING, "--max-decoded-body", "1000"], coded("gzip", Zlib.gzip("x" * (1000 + extra)))]
    end

    # The ratio counts after a mebibyte.
    def max_decode_ratio(extra)
      [[*DECODING, "--max-decode-ratio", "20"], coded("gzip", Zlib.gzip("\0" * (MB + extra)))]
    end

    def max_parts(extra)
      [[*FORMS, "--max-parts", "3"], form(*Array.new(3 + extra) { FormBody.field("a", "1") })]
    end

    def max_files(extra)
      [[*FORMS, "--max-files", "2"], form(*Array.new(2 + extra) { FormBody.file("a") })]
    end

    # The headers of a part end with a blank line.
    def max_part_header(extra)
      head, content = FormBody.field("a", "1")
      [[*FORMS, "--max-part-header", "100"], form(["#{head}\r\nX: ".ljust(100 - 4 + extra, "x"), content])]
    end

    def max_field_bytes(extra)
      fields = { "a" => 50, "b" => 50 + extra }.map { |name, bytes| FormBody.field(name, "x" * bytes) }
      [[*FORMS, "--max-field-bytes", "100"], form(*fields)]
    end

    def max_header_bytes(extra)
      head = "GET / HTTP/1.1\r\nHost: a\r\nX: "
      [%w[--max-header-bytes 1000], "#{head.ljust(1000 - 4 + extra, "x")}\r\n\r\n"]
    end

    def max_headers(extra)
      [%w[--max-headers 10], "GET / HTTP/1.1\r\nHost: a\r\n#{"X: y\r\n" * (9 + extra)}\r\n"]
    end

    def max_uri(extra)
      [%w[--max-uri 100], get("/".ljust(100 + extra, "x"))]
    end

    def spool_limit(extra)
      [%w[--inline-body-limit 0 --spool-limit 100000], post("x" * (100_000 + extra))]
    end

    def blank_lines_limit(extra)
      [[], ("\r\n" * (2 + extra)) + get("/")]
    end

    def method_limit(extra)
      [[], "#{"X" * (32 + extra)} / HTTP/1.1\r\nHost: a\r\n\r\n"]
    end

    def chunk_extensions_limit(extra)
      [[], chunked("1#{";a".ljust((16 * 1024) + extra, "x")}\r\nx\r\n0\r\n\r\n")]
    end

    def size_digits_limit(extra)
      [[], chunked("#{"1".rjust(16 + extra, "0")}\r\nx\r\n0\r\n\r\n")]
    end

    def codings_limit(extra)
      codings = Array.new(2 + extra, "gzip")
      [DECODING, coded(codings.join(", "), ContentCodings.encode("x", *codings))]
    end

    def gzip_members_limit(extra)
      [DECODING, coded("gzip", Zlib.gzip("") * ((64 * 1024) + extra))]
    end

    # A frame with a window of 2^23 bytes, and a block of one byte (RFC 8878, section 3.1.1).
    def window_log(extra)
      frame = [0xFD2FB528, 0, (23 + extra - 10) << 3, 9, 0, "x"].pack("L<CCCS<a*")
      [DECODING, coded("zstd", frame)]
    end

    def header_count_limit(extra)
      [[], get("/headers?#{1024 + extra}")]
    end

    def name_limit(extra)
      [[], get("/name?#{1024 + extra}")]
    end

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
