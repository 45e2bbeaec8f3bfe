# frozen_string_literal: true

module Support
  # A body that counts how often it is closed; the block is its `each`.
  class RecordedBody
    attr_reader :closed_count

    def initialize(&each)
      @each = each
      @closed_count = 0
    end

    def each(&block)
      @each.call(block)
    end

    def close
      @closed_count += 1
    end
  end
end
