# frozen_string_literal: true

require_relative "../finding"

module Carat
  module CLI
    class Doctor
      # Checks whether the kernel lets a large process fork, although the fork shares most of its memory.
      class Overcommit
        FILE = "/proc/sys/vm/overcommit_memory"
        NEVER = "2"
        private_constant :FILE, :NEVER

        # `mode` is the kernel's setting, a digit.
        def initialize(_configuration, mode: File.read(FILE).strip)
          @mode = mode
        end

        # Returns the Finding.
        def finding
          return Finding.ok("overcommit", "the kernel counts shared memory once") unless @mode == NEVER

          Finding.warning("overcommit", "vm.overcommit_memory is 2: the kernel counts shared memory once for each " \
                                        "worker, so forks fail while memory is free; set it to 0 or 1, or raise " \
                                        "vm.overcommit_ratio")
        end
      end
    end
  end
end
