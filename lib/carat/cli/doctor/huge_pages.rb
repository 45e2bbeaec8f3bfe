# frozen_string_literal: true

require_relative "finding"

module Carat
  module CLI
    class Doctor
      # Whether the kernel makes huge pages of memory that nobody asked them for.
      class HugePages
        FILE = "/sys/kernel/mm/transparent_hugepage/enabled"

        # `modes` is the kernel's list with the current one in brackets, or nil where it knows no huge pages.
        def initialize(_configuration, modes: File.file?(FILE) ? File.read(FILE) : nil)
          @mode = modes.to_s[/\[(\w+)\]/, 1]
        end

        def finding
          return Finding.ok("huge pages", "the kernel makes none by itself") unless @mode == "always"

          Finding.warning("huge pages", "the kernel makes them everywhere: a worker that writes one byte may take " \
                                        "2 MiB of its own, and gives less back; echo madvise > #{FILE}")
        end
      end
    end
  end
end
