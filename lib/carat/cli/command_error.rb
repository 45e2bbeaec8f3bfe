# frozen_string_literal: true

module Carat
  module CLI
    # A subcommand cannot do its work. The message is one line that says why.
    class CommandError < StandardError
    end

    # A running server cannot be reached, or refuses the request. The message is one line.
    class ControlError < CommandError
      # The HTTP status, such as 404, of a response that gives no reason; nil when there was no such response.
      attr_reader :status

      # `message` is one line, and `status` a number.
      def initialize(message = nil, status: nil)
        super(message)
        @status = status
      end
    end
  end
end
