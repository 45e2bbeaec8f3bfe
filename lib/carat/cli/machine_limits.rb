# frozen_string_literal: true

require "json"
require_relative "../native_path"

module Carat
  module CLI
    # The memory that the kernel allows. The edge program reads the limits, so that commands see the same numbers as a
    # server.
    class MachineLimits
      FLAG = "--limits"
      private_constant :FLAG

      # Asks the edge program, whose path is `edge`. Returns nil when it is not built or cannot run.
      def self.read(edge: NativePath.edge)
        output = IO.popen([edge, FLAG], err: File::NULL, &:read) if edge
        new(JSON.parse(output)) if output && Process.last_status.success?
      rescue SystemCallError
        nil
      end

      # `limits` is the Hash that the edge program prints.
      def initialize(limits)
        @limits = limits
      end

      # Returns the lowest memory limit of the control groups in bytes, or nil without one.
      def container_memory
        @limits["container_memory"]
      end

      # Returns the memory of the machine in bytes, or nil where the kernel does not say.
      def machine_memory
        @limits["machine_memory"]
      end
    end
  end
end
