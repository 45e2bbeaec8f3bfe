# frozen_string_literal: true

require "json"

module Carat
  module ACME
    # What the client says to the edge that started it, one JSON object a line.
    class EdgeMessages
      # `socket` is an IO.
      def initialize(socket)
        @socket = socket
      end

      # Returns once the edge has read the files that were written.
      def look
        send(event: "look")
        @socket.gets or raise EOFError, "the server has ended"
      end

      # Reports a certificate.
      def issued(name, expires:, renewal:)
        send(event: "issued", name: name, expires: time(expires), renewal: time(renewal))
      end

      # Reports that there is no certificate, and why.
      def failed(name, reason:, attempt:)
        send(event: "failed", name: name, reason: reason, next: time(attempt))
      end

      # Reports that nothing can be done.
      def unable(reason)
        send(event: "unable", reason: reason)
      end

      # Reports that all due names were tried.
      def done
        send(event: "done")
      end

      private

      def send(message)
        @socket.puts(JSON.generate(message))
      end

      def time(time)
        time.utc.strftime("%Y-%m-%dT%H:%M:%SZ")
      end
    end
  end
end
