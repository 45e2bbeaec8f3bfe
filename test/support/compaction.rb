# frozen_string_literal: true

require "minitest"

module Support
  # Moves the objects of this process, so that an address that somebody has kept is wrong.
  module Compaction
    module_function

    # The checks of `toward: :empty` move everything that may move, which tells more than one compaction. They can make
    # the heap larger for that, but would double it each time.
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
