# frozen_string_literal: true

require_relative "../socket"

module Carat
  module Cable
    module Patches
      # For ActionCable::Connection::Base before Rails 8.2, whose connections create their own socket. This module lets
      # them take a Socket of Carat in place of Rack's environment.
      module LegacyConnection
        # `socket` is a Socket, or Rack's environment.
        def initialize(server, socket, **)
          return super unless socket.is_a?(Socket)

          @server = server
          @socket = @websocket = socket
          @env = socket.env
          @coder = ::ActiveSupport::JSON
          @worker_pool = server.worker_pool
          @logger = socket.logger
          @subscriptions = ::ActionCable::Connection::Subscriptions.new(self)
          @message_buffer = ::ActionCable::Connection::MessageBuffer.new(self)
          @_internal_subscriptions = nil
          @protocol = socket.protocol
          @started_at = Time.now
        end

        # Sends a message to the client.
        def transmit(message)
          carat_socket ? carat_socket.transmit(message) : super
        end

        private

        def request
          carat_socket ? carat_socket.request : super
        end

        def finished_request_message
          carat_socket ? "Finished [WebSocket] at #{Time.now}" : super
        end
      end
    end
  end
end
