# frozen_string_literal: true

require_relative "../../cable"
require_relative "../refusals"
require_relative "../timers"

module Carat
  module Cable
    module Patches
      # For ActionCable::Channel::Base: streams and timers are the edge's.
      module Channel
        # Raises Error when the class needs what the edge cannot do.
        def initialize(connection, *)
          Refusals.check_channel(self.class) if connection.carat_socket
          super
        end

        # Lets the client hear `broadcasting`; with `whisper`, tell the others that hear it; with `presence`, know who
        # they are, and say who it is.
        def stream_from(broadcasting, callback = nil, coder: nil, whisper: false, presence: false, &block)
          return super(broadcasting, callback, coder:, &block) unless (socket = connection.carat_socket)
          return if @unsubscribed

          Refusals.check_stream(self.class, callback || block, coder)
          stream = socket.stream(broadcasting)
          socket.result.start(stream)
          socket.result[:whisper] = stream if whisper
          socket.result.presence(stream, may_join: true) if presence
          logger.info "#{self.class.name} is streaming from #{broadcasting}"
        end

        # Likewise for a record.
        def stream_for(model, callback = nil, coder: nil, **talk, &block)
          return super(model, callback, coder:, &block) if talk.empty?

          stream_from(broadcasting_for(model), callback, coder:, **talk, &block)
        end

        # Lets the others of a stream of the channel, the first unless it is named, know who the client is. An `id` is
        # present once, by any number of clients.
        def join_presence(stream = nil, id: connection.connection_identifier, info: nil)
          return unless (socket = connection.carat_socket)

          socket.result.presence(socket.stream(stream)) if stream
          socket.result[:join] = ::ActiveSupport::JSON.encode({ id: id.to_s, info: })
        end

        # Ends that before the client does.
        def leave_presence(*)
          connection.carat_socket&.result&.leave
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

        def start_periodic_timers
          connection.carat_socket ? Timers.start(self) : super
        end

        def stop_periodic_timers
          connection.carat_socket ? Timers.stop(self) : super
        end

        # What calls it has other timers than those of the class.
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
