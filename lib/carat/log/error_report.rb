# frozen_string_literal: true

require_relative "../native"

module Carat
  module Log
    # The text that the log has about an error of the application.
    class ErrorReport
      # `error` is an Exception.
      def initialize(error)
        @error = error
      end

      # Returns the error with its causes and its backtrace, as Ruby prints it: of any size and with any characters.
      # An application may override the methods that are called here.
      def to_s
        (ours? ? @error.message : printed).to_s.chomp
      rescue StandardError, SystemStackError => e
        "#{@error.class}, whose message raises #{e.class}"
      end

      private

      # Ruby 3.3 omits the message and the class when the message has an encoding that is not a superset of ASCII.
      def printed
        text = @error.full_message(highlight: false, order: :top)
        text.b.include?(@error.class.to_s.b) ? text : "#{text.chomp} (#{@error.class})"
      end

      # Whether Carat raised the error about a response of the application: then the backtrace does not matter.
      def ours?
        @error.is_a?(Native::InvalidResponse)
      end
    end
  end
end
