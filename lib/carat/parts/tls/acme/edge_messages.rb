# frozen_string_literal: true

require "json"

module Carat
  module ACME
    # The messages to the edge that started the client, each a JSON object on one line.
    class EdgeMessages
      # `socket` is an IO.
      def initialize(socket)
        @socket = socket
      end

      # Makes the edge read the files of the folder, and returns when it has.
      def look
        send(event: "look")
        @socket.gets or raise EOFError, "the server has ended"
      end

      # Reports that a certificate was issued.
      def issued(name, expires:, renewal:)
        send(event: "issued", name: name, expires: time(expires), renewal: time(renewal))
      end

      # Reports that no certificate was issued, why, and when the next attempt is.
      def failed(name, reason:, attempt:)
        send(event: "failed", name: name, reason: reason, next: time(attempt))
      end

      # Reports that the client cannot order any certificate, and why.
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
