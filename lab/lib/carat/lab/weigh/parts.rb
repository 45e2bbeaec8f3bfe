# frozen_string_literal: true

module Carat
  module Lab
    module Weigh
      # Divides the growth of the process into parts that are measured separately.
      class Parts
        # `before` and `after` are samples of Boot with String keys, `files` is the Weight of all files,
        # `collector` the bytes of malloc that garbage collection took, and `own` those of the measurement.
        def initialize(before, after, files, collector:, own:)
          @delta = after.to_h { |name, bytes| [name, bytes - before.fetch(name)] }
          @files = files
          @collector = collector
          @own = own
        end

        # Returns a Hash of bytes by name.
        def to_h
          {
            "files_malloc" => @files.malloc,
            "files_slots" => @files.slots,
            "collector" => @collector,
            "other_malloc" => @delta.fetch("allocated") - @files.malloc - @collector - @own,
            "free_slots" => @delta.fetch("heap") - @files.slots,
            "allocator" => @delta.fetch("active") - @delta.fetch("allocated"),
            "young_buffers" => @delta.fetch("young"),
            "untouched" => -@delta.fetch("untouched"),
            "mapped_files" => @delta.fetch("files"),
            "machine_code" => @delta.fetch("code")
          }
        end

        # The sum of the parts.
        def sum
          to_h.values.sum
        end

        # The growth of the process by its PSS, without the measurement itself.
        def growth
          @delta.fetch("pss") - @own
        end
      end
    end
  end
end
