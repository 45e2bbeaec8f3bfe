# frozen_string_literal: true

require_relative "../stream_input"

module Carat
  module Request
    # A StreamInput for Rack 2, which rewinds what it has read: its parsers of forms do so whenever they are done. That
    # works, but reading again raises Errno::ESPIPE, as what has been read is gone.
    class Rack2StreamInput < StreamInput
      # Returns 0, as IO#rewind.
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
