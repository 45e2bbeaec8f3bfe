# frozen_string_literal: true

require_relative "../socket"

module Carat
  module Cable
    module Patches
      # For ActionCable::Connection::Base: its socket may be a Socket of Carat.
      module Connection
        # Returns the connection's Socket of Carat, or nil when the connection has a socket of Action Cable.
        def carat_socket
          @socket if @socket.is_a?(Socket)
        end

        # Notes that the command has failed. Before Rails 8.2, nothing but this call shows it.
        def rescue_with_handler(error, *)
          carat_socket&.result&.fail
          super
        end

        private

        def subscribe_to_internal_channel
          return super unless carat_socket
          return unless connection_identifier.present?

          carat_socket.result[:internal] = carat_socket.stream(internal_channel)
          logger.info "Registered connection (#{connection_identifier})"
        end
      end
    end
  end
end
