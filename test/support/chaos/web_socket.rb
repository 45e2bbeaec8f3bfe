# frozen_string_literal: true

require_relative "../http2_client"

module Support
  module Chaos
    # One tunnel on a stream of HTTP/2. The application sends its pid, then each message as it comes, and in the end the
    # digest of all.
    class WebSocket
      MESSAGE_BYTES = 50

      attr_reader :stream, :outcome

      # @param body [String] the messages that are sent
      def initialize(stream, outcome, body)
        @stream = stream
        @outcome = outcome
        @body = body
        @sent = 0
        @received = "".b
        @over = false
      end

      def over?
        @over
      end

      # The server leaves the request to another one.
      def refuse
        @over = @outcome.left = true
      end

      def break_off(error)
        @outcome.error = error.class unless over?
      end

      # Takes what the server has sent. Returns frames: updates of both windows, and the next message.
      def hear(frame, client)
        @outcome.status ||= frame.status if frame.kind == :headers
        @received << frame.payload if frame.kind == :data
        @over = frame.kind == :reset || (%i[headers data].include?(frame.kind) && frame.end_stream?)
        return [] unless @outcome.served? && !over?

        updates(frame, client) + messages(client)
      end

      # Returns :lost when it has ended before its end.
      def settle
        return unless @outcome.served?

        @outcome.worker = @received.to_i
        @outcome.body = echo.byteslice(@body.bytesize..) if echo.start_with?(@body)
        :lost if @outcome.body.to_s.empty?
      end

      private

      def updates(frame, client)
        return [] unless frame.kind == :data && !frame.payload.empty?

        size = [frame.payload.bytesize].pack("N")
        [0, @stream].map { |stream| client.frame(:window_update, size, stream: stream) }
      end

      def messages(client)
        return [] unless @received.include?("\n") && echo.bytesize == @sent

        message = @body.byteslice(@sent, MESSAGE_BYTES)
        @sent += message.bytesize
        [client.frame(:data, message, flags: message.empty? ? Http2Client::END_STREAM : 0, stream: @stream)]
      end

      # What has come behind the pid.
      def echo
        @received.partition("\n").last
      end
    end
  end
end
