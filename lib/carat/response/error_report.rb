# frozen_string_literal: true

require_relative "../native"

module Carat
  module Response
    # The text that the log has about an error of the application.
    class ErrorReport
      # Errors that Carat raises about the application: their backtraces do not matter.
      OURS = [Native::InvalidResponse].freeze

      # `error` is an Exception, `env` the environment of the request, empty outside of one.
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
