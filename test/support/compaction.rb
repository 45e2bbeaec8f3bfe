# frozen_string_literal: true

require "minitest"

module Support
  # Moves the objects of this process, so that a kept address becomes invalid.
  module Compaction
    module_function

    # The checks of `toward: :empty` move every movable object, so they find more than one compaction does. They could
    # enlarge the heap first, but would double it each time.
    def compact
      raise Minitest::Skip, "this Ruby cannot move objects" unless GC.respond_to?(:verify_compaction_references)

      stress = GC.stress
      GC.stress = false
      GC.verify_compaction_references(toward: :empty)
    ensure
      GC.stress = stress unless stress.nil?
    end
  end
end
