# frozen_string_literal: true

require_relative "../bytes"
require_relative "../cgroup"
require_relative "finding"

module Carat
  module CLI
    class Doctor
      # What `memory` comes to, and whether the kernel would let the processes have it.
      class MemoryLimit
        FILE = "/proc/meminfo"
        KIB = 1024

        # `cgroup` is a Cgroup, `machine` how many bytes the machine has.
        def initialize(configuration, cgroup: Cgroup.new, machine: nil)
          @budget = configuration[:memory]
          @limit = cgroup.memory_limit
          @machine = machine || (File.read(FILE)[/^MemTotal:\s+(\d+)/, 1].to_i * KIB)
        end

        def finding
          ok = Finding.ok("memory", "#{holder}; the server may have #{words(bytes)} of it")
          return ok if bytes <= available

          Finding.warning("memory", "#{holder}, and memory says #{words(bytes)}, of which the server may have no " \
                                    "more than that: the kernel would end workers before Carat does; lower memory, " \
                                    "or say how large a share it is, such as \"80%\"")
        end

        private

        def bytes
          @budget.is_a?(Integer) ? @budget : (available * @budget.to_f / 100).floor
        end

        def available
          [@limit, @machine].compact.min
        end

        def holder
          return "no control group limits the machine's #{words(@machine)}" unless @limit && @limit < @machine

          "the control group allows #{words(@limit)}"
        end

        def words(number)
          Bytes.words(number)
        end
      end
    end
  end
end
