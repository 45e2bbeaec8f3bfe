# frozen_string_literal: true

require_relative "../../part"

module Carat
  module Parts
    # Action Cable whose sockets the edge keeps.
    class Cable < Part
      option :cable, key: :path, group: "Requests", type: :prefix, edge: true, mold: true,
                     doc: "The path where the edge serves Action Cable, such as /cable; not set: the application does."
      option :cable_history, key: :history, group: "Requests", type: :timeout, edge: true, default_text: "off",
                             doc: "How long broadcasts are kept for clients of the protocol actioncable-v1-ext-json."
      option :cable_history_bytes, key: :history_bytes, group: "Requests", type: :bytes, within: 64 * KIB..,
                                   default: 16 * MIB, edge: true,
                                   doc: "Bytes of these broadcasts, over all streams; the oldest are forgotten first."
      option :cable_compression, key: :compression, group: "Requests", type: :boolean, default: false, edge: true,
                                 doc: "Whether messages of the cable are compressed for clients that offer " \
                                      "permessage-deflate."
      option :cable_token, key: :token, group: "Requests", type: :string, only: %i[env file], edge: true,
                           doc: "A secret with which other programs may POST /broadcast to an address of `metrics`."
    end
  end
end
