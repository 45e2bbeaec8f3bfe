# frozen_string_literal: true

require_relative "../part"

module Carat
  module Parts
    # Content codings: compressed responses, and decoded request bodies.
    module Codings
      # The options of the part, and the methods that the server calls.
      class Part < Parts::Part
        option :decode_requests, group: "Requests", type: :boolean, default: false, edge: true,
                                 doc: "Whether gzip, deflate, br and zstd bodies are decoded before the application " \
                                      "sees them."
        option :max_decoded_body, group: "Client limits", type: :bytes, default: 1 * GIB, edge: true, limit: 413,
                                  doc: "Maximum size of a decoded request body; a larger one gets 413."
        option :max_decode_ratio, group: "Client limits", type: :integer, within: 1..1_000_000_000, default: 200,
                                  edge: true, limit: 413,
                                  doc: "Decoded bytes per byte of an encoded body, after the first 1 MiB; more get 413."
        option :compress, group: "Responses", type: :boolean, default: false, edge: true,
                          doc: "Whether responses are compressed with zstd, br or gzip for clients that accept it."
        option :compress_min_bytes, group: "Responses", type: :bytes, default: 1 * KIB, edge: true,
                                    doc: "Responses smaller than this are not compressed."
        option :gzip_level, group: "Responses", type: :integer, within: 1..9, default: 4, edge: true,
                            doc: "Compression level of gzip, from fast to small."
        option :brotli_level, group: "Responses", type: :integer, within: 0..11, default: 4, edge: true,
                              doc: "Compression level of brotli, from fast to small."
        option :zstd_level, group: "Responses", type: :integer, within: 1..19, default: 3, edge: true,
                            doc: "Compression level of zstd, from fast to small."

        # The suggestion for `carat.rb` to compress responses.
        def init_lines(_application) = [[:suggestion, :compress, "true"]]
      end
    end
  end
end
