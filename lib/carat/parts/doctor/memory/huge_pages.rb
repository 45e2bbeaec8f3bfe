# frozen_string_literal: true

require_relative "../finding"

module Carat
  module CLI
    class Doctor
      # Checks whether the kernel uses transparent huge pages for all memory.
      class HugePages
        FILE = "/sys/kernel/mm/transparent_hugepage/enabled"
        private_constant :FILE

        # `modes` is the kernel's list with the current mode in brackets, or nil where the kernel has no huge pages.
        def initialize(_configuration, modes: File.file?(FILE) ? File.read(FILE) : nil)
          @mode = modes.to_s[/\[(\w+)\]/, 1]
        end

        # Returns the Finding.
        def finding
          return Finding.ok("huge pages", "the kernel uses them only on request") unless @mode == "always"

          Finding.warning("huge pages", "the kernel uses them for all memory: a worker that writes one byte may " \
                                        "copy 2 MiB, and returns less memory; echo madvise > #{FILE}")
        end
      end
    end
  end
end
