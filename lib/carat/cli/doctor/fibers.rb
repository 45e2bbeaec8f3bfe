# frozen_string_literal: true

require_relative "finding"

module Carat
  module CLI
    class Doctor
      # Whether the kernel has room for the stacks of the fibers that a worker may have.
      class Fibers
        # A fiber's stack and the guard page below it.
        MAPPINGS = 2
        # Libraries, threads, the heap.
        RESERVE = 3072
        FILE = "/proc/sys/vm/max_map_count"

        # `allowed` is how many mappings the kernel lets a process have.
        def initialize(configuration, allowed: Integer(File.read(FILE), 10))
          @fibers = configuration[:fibers]
          @allowed = allowed
        end

        def finding
          return Finding.ok("fibers", "none are asked for") unless @fibers

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
