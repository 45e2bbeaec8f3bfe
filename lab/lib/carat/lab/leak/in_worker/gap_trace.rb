# frozen_string_literal: true

require "carat/native"
require_relative "../../ledger"
require_relative "../../library"
require_relative "growth_trace"

module Carat
  module Lab
    module Leak
      # Between whose blocks memory becomes free, in a worker: a page stays in use as long as one block in it lives.
      # Each step returns a Hash for JSON, as those of GrowthTrace do. The worker ends with the trace.
      class GapTrace
        # What a collection frees may need further ones.
        COLLECTIONS = 3

        # The lines that are described.
        SITES_LIMIT = 20

        # The sizes of blocks that are named.
        SIZES_LIMIT = 5
        private_constant :COLLECTIONS, :SITES_LIMIT, :SIZES_LIMIT

        # Begins. Blocks of an allocator that does not say what is free have no line.
        def start
          Ledger.start
          Ledger.trace_lines(*Library::CODE)
          @balances = [balance]
          {}
        end

        # Ends a round of requests.
        def round
          @balances << balance
          {}
        end

        # There is nothing more to note.
        def watch
          {}
        end

        # See `watch`.
        def watched
          { enough: true }
        end

        # Ends the trace. Returns `lines`, those with most free memory between their blocks first.
        def sites
          Ledger.stop
          rows = Ledger.lines.map { |number, file, line| describe(number, file, line) }
          rows = rows.select { |row| row[:bytes].sum.positive? }
          { lines: rows.max_by(SITES_LIMIT) { |row| row[:bytes].sum }, containers: [] }
        end

        private

        # By account, a Hash of free bytes by the size of the blocks. The thread's cache must not hold blocks.
        def balance
          COLLECTIONS.times { GC.start }
          Native.trim_memory
          Ledger.gaps.group_by(&:first).transform_values { |rows| rows.to_h { |_, size, bytes| [size, bytes] } }
        end

        def describe(number, file, line)
          gaps = @balances.map { |balance| balance.fetch(number, {}) }
          bytes = gaps.map { |sizes| sizes.values.sum }.each_cons(2).map { |before, after| after - before }
          largest = gaps.last.max_by(SIZES_LIMIT) { |_, free| free }
          { file:, line:, bytes:, objects: [0], classes: {}, path: nil, block_sizes: largest.map(&:first) }
        end
      end
    end
  end
end
