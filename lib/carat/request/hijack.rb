# frozen_string_literal: true

require_relative "../response/tunnel"

module Carat
  module Request
    # `rack.hijack` of one request: takes over its connection before there is a response.
    #
    #   slot   a Native::Slot
    #   id     of the request in it
    #   env    the environment of the request
    #
    # A Struct, because the extension makes one for each request.
    Hijack = Struct.new(:slot, :id, :env) do
      # Returns the application's end of the connection, a UNIXSocket, which is also `rack.hijack_io`. Raises IOError
      # when the request has a response, or is over.
      def call
        env["rack.hijack_io"] ||= Response::Tunnel.open { |far| slot.hijack(id, far) } ||
                                  raise(IOError, "the request is over: its connection cannot be taken over")
      end

      # Leaves out the environment, which contains this object.
      def inspect
        "#<#{self.class}>"
      end
    end
  end
end
