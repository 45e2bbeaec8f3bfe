# frozen_string_literal: true

require_relative "../native"
require_relative "../response/tunnel"

module Carat
  module Request
    # The `rack.hijack` of one request: takes over the connection before there is a response. The extension makes one
    # for each request, from its Native::Slot, its id in the slot, and its environment.
    class Hijack < Native::Hijack
      # Returns the application's end of the connection, a UNIXSocket, and keeps it as `rack.hijack_io`. Raises IOError
      # when the request has a response already, or is over.
      def call
        env["rack.hijack_io"] ||= Response::Tunnel.open { |far| slot.hijack(id, far) } ||
                                  raise(IOError, "the request is over: its connection cannot be taken over")
      end

      # Returns a description without the environment, which contains this object.
      def inspect
        "#<#{self.class}>"
      end
    end
  end
end
