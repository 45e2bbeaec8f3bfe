# frozen_string_literal: true

require_relative "../part"

module Carat
  module Parts
    # HTTP/2, over TLS or in the clear.
    module HTTP2
      # The options of the part.
      class Part < Parts::Part
        option :http2, key: :enabled, group: "Listening", type: :boolean, default: true, edge: true,
                       doc: "Whether clients may speak HTTP/2: over TLS, or in clear with prior knowledge."
        option :http2_max_streams, key: :max_streams, group: "Listening", type: :integer, within: 1..10_000,
                                   default: 128,
                                   edge: true,
                                   doc: "Requests that an HTTP/2 connection may have open at once; clients keep " \
                                        "further ones back."
      end
    end
  end
end
