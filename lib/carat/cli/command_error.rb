# frozen_string_literal: true

module Carat
  module CLI
    # A subcommand cannot do what it should; the message is one line that says why.
    class CommandError < StandardError
    end

    # A running server cannot be reached, or refuses; the message is one line.
    class ControlError < CommandError
      # The status of a response that has no reason, such as 404; nil without such a response.
      attr_reader :status

      # `message` is one line, and `status` a number.
      def initialize(message = nil, status: nil)
        super(message)
        @status = status
      end
    end
  end
end
