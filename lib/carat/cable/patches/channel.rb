# frozen_string_literal: true

require_relative "../../cable"
require_relative "../refusals"

module Carat
  module Cable
    module Patches
      # For ActionCable::Channel::Base: streams are the edge's.
      module Channel
        # Raises Error when the class needs what the edge cannot do.
        def initialize(connection, *)
          Refusals.check_channel(self.class) if connection.carat_socket
          super
        end

        # Lets the client hear `broadcasting`.
        def stream_from(broadcasting, callback = nil, coder: nil, &block)
          return super unless (socket = connection.carat_socket)
          return if @unsubscribed

          Refusals.check_stream(self.class, callback || block, coder)
          socket.result.start(socket.stream(broadcasting))
          logger.info "#{self.class.name} is streaming from #{broadcasting}"
        end

        # Ends that again.
        def stop_stream_from(broadcasting)
          return super unless (socket = connection.carat_socket)

          socket.result.stop(socket.stream(broadcasting))
          logger.info "#{self.class.name} stopped streaming from #{broadcasting}"
        end

        # Ends all of them.
        def stop_all_streams
          connection.carat_socket ? connection.carat_socket.result.stop_all : super
        end

        private

        def transmit_subscription_confirmation
          connection.carat_socket&.result&.[]=(:subscription, "confirmed") unless subscription_confirmation_sent?
          super
        end

        def transmit_subscription_rejection
          connection.carat_socket&.result&.[]=(:subscription, "rejected")
          super
        end
      end
    end
  end
end
