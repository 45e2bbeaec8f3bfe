# frozen_string_literal: true

require_relative "../../stream_input"

module Carat
  module Request
    # A StreamInput for Rack 2, whose form parsers call `rewind` when they have read the body. The call succeeds.
    # Reading again raises Errno::ESPIPE, because the data is gone.
    class Rack2StreamInput < StreamInput
      # Returns 0, as IO#rewind does. Later reads raise Errno::ESPIPE.
      def rewind
        check_open
        @rewound = @begun
        0
      end

      private

      def begin_read
        super
        raise Errno::ESPIPE, "the body was read while it arrived, and is gone" if @rewound

        @begun = true
      end
    end
  end
end
