# frozen_string_literal: true

require_relative "../scheduler"

module Carat
  module Request
    # Runs the fibers of a lane, and those that the application starts beside its requests. An error of such a fiber is
    # logged, as that of a thread is, and ends nothing else.
    class LaneScheduler < Scheduler
      # `log` is a ProcessLog.
      def initialize(log)
        super()
        @log = log
      end

      private

      def fail_with(error)
        @log.application_error(error)
      end
    end
  end
end
