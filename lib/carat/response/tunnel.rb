# frozen_string_literal: true

module Carat
  module Response
    # The socket that an application gets in place of its client's connection: one end of a pair. The edge has the other
    # end, and passes on what arrives at either side.
    module Tunnel
      module_function

      # Yields the descriptor of the far end, which the block passes on, and returns the near end, a UNIXSocket. Returns
      # nil, with both ends closed, when the block returns false.
      def open
        require "socket" # most applications need none
        near, far = UNIXSocket.pair
        passed = yield far.fileno
        near if passed
      ensure
        far&.close
        near&.close unless passed
      end
    end
  end
end
