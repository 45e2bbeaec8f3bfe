# frozen_string_literal: true

module Carat
  module Response
    # The socket that an application gets in place of its client's connection: one end of a pair of sockets. The edge
    # has the other end, and passes bytes between it and the client.
    module Tunnel
      module_function

      # Yields the descriptor of the edge's end, for the block to pass on, and returns the application's end, a
      # UNIXSocket. When the block returns false, closes both ends and returns nil.
      def open
        require "socket" # loaded late, because most applications need no sockets
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
