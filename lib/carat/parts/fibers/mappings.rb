# frozen_string_literal: true

require_relative "../doctor/finding"

module Carat
  module CLI
    class Doctor
      # Checks whether the kernel allows as many memory mappings as the fibers of a worker need.
      class Mappings
        # The mappings of a fiber: its stack, and the guard page below the stack.
        MAPPINGS = 2
        # The mappings of everything else: libraries, threads, the heap.
        RESERVE = 3072
        FILE = "/proc/sys/vm/max_map_count"
        private_constant :FILE

        # `allowed` is the number of mappings that the kernel allows a process.
        def initialize(configuration, allowed: Integer(File.read(FILE), 10))
          @fibers = configuration[:fibers]
          @allowed = allowed
        end

        # Returns the Finding.
        def finding
          return Finding.ok("fibers", "not used") unless @fibers

          most = "a worker may have #{@fibers}"
          return Finding.ok("fibers", "#{most}, the kernel has room for #{room}") if @fibers <= room

          Finding.warning("fibers", "#{most}, and the kernel has room for about #{room}: " \
                                    "requests beyond that wait; raise vm.max_map_count, or lower fibers")
        end

        private

        def room
          (@allowed - RESERVE) / MAPPINGS
        end
      end
    end
  end
end
