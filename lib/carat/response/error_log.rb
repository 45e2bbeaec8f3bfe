# frozen_string_literal: true

require_relative "error_report"

module Carat
  module Response
    # Logs errors of the application.
    class ErrorLog
      # `stream` is an IO.
      def initialize(stream)
        @stream = stream
      end

      # Writes an ErrorReport about `error` in the request of `env`.
      def add(error, env)
        @stream.write(ErrorReport.new(error, env).to_s)
      rescue IOError, SystemCallError
        # The reader of the log is gone, which must not fail requests.
      end
    end
  end
end
