# frozen_string_literal: true

require_relative "recorder"

module Support
  module Differential
    # What came of a case: the requests that reached the application, and the responses that the client got.
    #
    # `requests` are [method, path, digest of the body] in their order.
    Outcome = Struct.new(:requests, :received) do
      # The status of each response, informational ones aside.
      def statuses
        received.scan(%r{^HTTP/1\.[01] (\d{3})}n).flatten.map(&:to_i).reject { |status| status < 200 }
      end

      # Whether what follows on the connection was refused or, as both sides knew, not read.
      def over?
        refused? || received.match?(/^connection: *close\r$/in)
      end

      def refused?
        last = statuses.last
        last ? last >= 400 && last != 408 : !received.empty?
      end

      # Whether every request was served, the last one included.
      def complete?
        requests.dig(-1, 1) == "/last" && statuses.uniq == [Recorder::STATUS]
      end

      # Why this and the outcome of the same bytes elsewhere are not the same framing; nil when they are: the requests
      # are the same as far as both go, and where one has fewer it has refused the rest.
      def difference(other)
        shared = [requests.size, other.requests.size].min
        return "the requests differ" if requests.first(shared) != other.requests.first(shared)

        shorter = [self, other].find { |outcome| outcome.requests.size == shared && !outcome.over? }
        return if requests.size == other.requests.size || shorter.nil?

        "one waits where the other sees a request"
      end

      def to_s
        "#{requests.map { |request| request.join(" ") }.join(", ")}; statuses #{statuses.join(" ")}"
      end
    end
  end
end
