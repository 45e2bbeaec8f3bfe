# frozen_string_literal: true

require_relative "scheduler"

module Carat
  module Request
    # Runs the fibers of a lane, and those that the application starts beside its requests. An error of such a fiber
    # is logged, as for a thread, and ends nothing else.
    class LaneScheduler < Scheduler
      # `lane` is a Native::Lane, `log` a ProcessLog.
      def initialize(lane, log)
        super()
        @lane = lane
        @log = log
      end

      # Offloads the operation as Offloading does, but runs it in place while the lane is held: the finalizer of a
      # Tempfile, which deletes a file, may run while the lane makes an environment, and another fiber could not use
      # the lane meanwhile.
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
