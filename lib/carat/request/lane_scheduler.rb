# frozen_string_literal: true

require_relative "../response/error_log"
require_relative "../scheduler"

module Carat
  module Request
    # Runs the fibers of a lane, and those that the application starts beside its requests. An error of such a fiber is
    # logged, as that of a thread is, and ends nothing else.
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
