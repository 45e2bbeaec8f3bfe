# frozen_string_literal: true

require_relative "../../../cli/units"
require_relative "../../../cli/machine_limits"
require_relative "../finding"

module Carat
  module CLI
    class Doctor
      # Checks how many bytes the option `memory` stands for, and whether the kernel allows as much.
      class MemoryLimit
        # `limits` are MachineLimits, or nil when they cannot be read.
        def initialize(configuration, limits: MachineLimits.read)
          @budget = configuration[:memory]
          @container = limits&.container_memory
          @machine = limits&.machine_memory
        end

        # Returns the Finding.
        def finding
          return Finding.warning("memory", "the limits of this machine cannot be read") unless available

          ok = Finding.ok("memory", "#{holder}; the server may have #{words(bytes)} of it")
          return ok if bytes <= available

          Finding.warning("memory", "#{holder}, but memory is #{words(bytes)}: the kernel would kill workers before " \
                                    "Carat replaces them; lower memory, or set a share such as \"80%\"")
        end

        # The number of bytes that the option stands for, or nil when the limits are unknown.
        def bytes
          return unless available

          @budget.is_a?(Integer) ? @budget : (available * @budget.to_f / 100).floor
        end

        # The bytes of the container or the machine, or nil when the limits are unknown.
        def available
          [@container, @machine].compact.min
        end

        private

        def holder
          return "no control group limits the machine's #{words(@machine)}" unless limited?

          "the control group allows #{words(@container)}"
        end

        def limited?
          @container && (@machine.nil? || @container < @machine)
        end

        def words(number)
          Units.bytes(number)
        end
      end
    end
  end
end
