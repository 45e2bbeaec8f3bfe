# frozen_string_literal: true

require_relative "../socket"

module Carat
  module Cable
    module Patches
      # For ActionCable::Connection::Base.
      module Connection
        # The Socket, nil when the connection has one of Action Cable's own.
        def carat_socket
          @socket if @socket.is_a?(Socket)
        end

        # Before Rails 8.2, only this shows that a command has failed.
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
