# frozen_string_literal: true

require_relative "../part"

module Carat
  module Parts
    # Forms: the edge extracts their files while the body arrives.
    module Multipart
      # The options of the part.
      class Part < Parts::Part
        option :multipart, key: :parser, group: "Requests", type: :choice, within: %w[app edge], default: "app",
                           edge: true,
                           doc: "Whether the application or the edge extracts files from a multipart/form-data body."
        option :max_parts, group: "Client limits", type: :integer, within: 1..1_000_000, default: 4096, edge: true,
                           limit: 413, doc: "Parts of a form that the edge parses; more get 413."
        option :max_files, group: "Client limits", type: :integer, within: 0..4096, default: 128, edge: true,
                           limit: 413,
                           doc: "Files in such a form; more get 413."
        option :max_part_header, group: "Client limits", type: :bytes, within: 64..MIB, default: 16 * KIB, edge: true,
                                 limit: 413, doc: "Maximum size of the headers of a part; larger ones get 413."
        option :max_field_bytes, group: "Client limits", type: :bytes, default: 16 * MIB, edge: true, limit: 413,
                                 doc: "Total size of the fields of such a form, without its files; more gets 413."
      end
    end
  end
end
