# frozen_string_literal: true

require_relative "../../cable"
require_relative "../refusals"
require_relative "../timers"

module Carat
  module Cable
    module Patches
      # For ActionCable::Channel::Base: the edge keeps the channel's streams and timers.
      module Channel
        # Raises Error when the class uses a feature that the edge does not have.
        def initialize(connection, *)
          Refusals.check_channel(self.class) if connection.carat_socket
          super
        end

        # Subscribes the client to the stream `broadcasting`.
        def stream_from(broadcasting, callback = nil, coder: nil, &block)
          return super unless (socket = connection.carat_socket)
          return if @unsubscribed

          Refusals.check_stream(self.class, callback || block, coder)
          socket.result.start(socket.stream(broadcasting))
          logger.info "#{self.class.name} is streaming from #{broadcasting}"
        end

        # Ends the client's subscription to the stream `broadcasting`.
        def stop_stream_from(broadcasting)
          return super unless (socket = connection.carat_socket)

          socket.result.stop(socket.stream(broadcasting))
          logger.info "#{self.class.name} stopped streaming from #{broadcasting}"
        end

        # Ends the client's subscriptions to all streams.
        def stop_all_streams
          connection.carat_socket ? connection.carat_socket.result.stop_all : super
        end

        private

        def start_periodic_timers
          connection.carat_socket ? Timers.start(self) : super
        end

        def stop_periodic_timers
          connection.carat_socket ? Timers.stop(self) : super
        end

        # Refuses timers that other code starts: the edge knows only the timers that the class declares.
        def start_periodic_timer(*, **)
          return super unless connection.carat_socket

          raise Error, "#{self.class}: with the option `cable`, `periodically` alone starts timers"
        end

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
