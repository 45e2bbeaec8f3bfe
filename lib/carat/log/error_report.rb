# frozen_string_literal: true

require_relative "../native"

module Carat
  module Log
    # The text about an error of the application for the log.
    class ErrorReport
      # `error` is an Exception.
      def initialize(error)
        @error = error
      end

      # Returns the error with its causes and its backtrace, as Ruby prints it: of any size and with any characters. The
      # rescue is there because an application may override the methods that are called.
      def to_s
        (ours? ? @error.message : printed).to_s.chomp
      rescue StandardError, SystemStackError => e
        "#{@error.class}, whose message raises #{e.class}"
      end

      private

      # The error as Ruby prints it. Ruby 3.3 omits the message and the class if the encoding of the message is no
      # superset of ASCII; then the class is added.
      def printed
        text = @error.full_message(highlight: false, order: :top)
        text.b.include?(@error.class.to_s.b) ? text : "#{text.chomp} (#{@error.class})"
      end

      # Whether Carat itself raised the error, about an invalid response of the application: then the backtrace says
      # nothing.
      def ours?
        @error.is_a?(Native::InvalidResponse)
      end
    end
  end
end
