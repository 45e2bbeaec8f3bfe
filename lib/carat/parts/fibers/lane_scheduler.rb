# frozen_string_literal: true

require_relative "scheduler"

module Carat
  module Request
    # Runs the fibers of a lane, and the fibers that the application starts in addition to those of requests. An error
    # of one of the latter is logged, as an error of a thread is, and ends nothing else.
    class LaneScheduler < Scheduler
      # `lane` is a Native::Lane, `log` a ProcessLog.
      def initialize(lane, log)
        super()
        @lane = lane
        @log = log
      end

      # Runs the operation in another thread as Offloading does, but in this thread while the lane is held. The lane is
      # held while it makes an environment, and no other fiber may use it then. In that time, Ruby may run the finalizer
      # of a Tempfile, which deletes a file.
      def blocking_operation_wait(operation)
        @lane.held? ? Fiber.blocking { operation.call } : super
      end

      remove_method :blocking_operation_wait if RUBY_VERSION < "3.2"

      private

      def fail_with(error)
        @log.application_error(error)
      end
    end
  end
end
