# frozen_string_literal: true

require_relative "../native"

module Carat
  module Response
    # What the log says about an error of the application.
    class ErrorReport
      # Errors that we raise about the application; where we did that is nobody's concern.
      OURS = [Native::InvalidResponse].freeze

      def initialize(error, env = {})
        @error = error
        @env = env
      end

      # Returns one block of lines: the request, the error with its causes, its backtrace.
      def to_s
        "#{request}#{ours? ? @error.message : @error.full_message(highlight: false, order: :top)}".chomp << "\n"
      end

      private

      def ours?
        OURS.any? { |type| @error.is_a?(type) }
      end

      def request
        @env.empty? ? "" : "#{@env['REQUEST_METHOD']} #{@env['REQUEST_PATH']}: "
      end
    end
  end
end
