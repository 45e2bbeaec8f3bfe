# frozen_string_literal: true

require_relative "error_report"

module Carat
  module Response
    # Where the application's errors are told.
    class ErrorLog
      # `stream` is an IO.
      def initialize(stream)
        @stream = stream
      end

      # Writes one block of lines about `error` in the request of `env`.
      def add(error, env)
        @stream.write(ErrorReport.new(error, env).to_s)
      rescue IOError, SystemCallError
        # Nobody reads the log any more, which is no reason to fail requests.
      end
    end
  end
end
