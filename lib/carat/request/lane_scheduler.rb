# frozen_string_literal: true

require_relative "../response/error_log"
require_relative "../scheduler"

module Carat
  module Request
    # Runs the fibers of a lane, and those that the application starts beside its requests. Errors of these are told in
    # the log, as those of threads are, and end nothing else.
    class LaneScheduler < Scheduler
      # `errors` is the stream for error reports.
      def initialize(errors)
        super()
        @log = Response::ErrorLog.new(errors)
      end

      private

      def fail_with(error)
        @log.add(error, {})
      end
    end
  end
end
