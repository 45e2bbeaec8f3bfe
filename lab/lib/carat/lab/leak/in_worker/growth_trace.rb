# frozen_string_literal: true

require "carat/native"
require_relative "../../ledger"
require_relative "../../library"
require_relative "containers"
require_relative "native_stacks"
require_relative "root_paths"

module Carat
  module Lab
    module Leak
      # Where memory grows, in a worker: an account of the Ledger for each line of Ruby, and the containers that fill.
      # Each step returns a Hash for JSON.
      class GrowthTrace
        # What a collection frees may need further ones.
        COLLECTIONS = 3

        # The lines that are described.
        SITES_LIMIT = 20

        # Live objects of a line that are looked at.
        OBJECTS_LIMIT = 200

        private_constant :COLLECTIONS

        # Begins. When the allocator does not show its blocks, memory of C has no line. Full collections are not counted
        # any more: the counting is compiled during the rounds, and what that takes has no line, either.
        def start
          Native.watch_marking(nil)
          @exact = Ledger.start
          Ledger.trace_lines(*Library::CODE)
          settle
          @containers = Containers.new
          @balances = [balance]
          {}
        end

        # Ends a round of requests.
        def round
          settle
          @containers.measure
          @balances << balance
          {}
        end

        # From now on, notes the lines at which containers grow, and the stacks of C that allocate.
        def watch
          @containers.watch
          Ledger.watch_stacks
          {}
        end

        # Whether the watch has seen what it is for.
        def watched
          { enough: @containers.filled? }
        end

        # Ends the trace. Returns `lines` and `containers`, those that grow most first.
        def sites
          @containers.unwatch
          settle
          stacks = Ledger.stacks.group_by(&:first)
          Ledger.stop
          lines = growing_lines(stacks)
          containers = @containers.growing
          samples = lines.filter_map { |line| line[:sample] } + containers.map { |container| container[:sample] }
          own = [self, @containers, lines, containers, samples, *ObjectSpace.each_object(Ledger::PathMarks)]
          paths = RootPaths.new(samples, hidden: own)
          [*lines, *containers].each { |row| row[:path] = paths.of(row.delete(:sample)) }
          { lines:, containers: }
        end

        private

        def settle
          COLLECTIONS.times { GC.start }
        end

        # Live bytes and objects by account, without the empty ones.
        def balance
          Ledger.accounts.each_with_index.filter_map do |(_, malloc, slots, objects), number|
            [number, [malloc + slots, objects]] unless malloc.zero? && slots.zero?
          end.to_h
        end

        def growing_lines(stacks)
          rows = Ledger.lines.map { |number, file, line| { number:, file:, line:, bytes: growth(number, 0) } }
          rows = rows.select { |row| row[:bytes].sum.positive? }.max_by(SITES_LIMIT) { |row| row[:bytes].sum }
          rows.map { |row| describe(row, NativeStacks.largest(stacks.fetch(row[:number], []))) }
        end

        def describe(row, stack)
          number = row.delete(:number)
          objects = Ledger.objects(number, OBJECTS_LIMIT)
          { **row, exact: @exact, objects: growth(number, 1),
                   classes: objects.map { |object| class_name(object) }.tally,
                   object_bytes: objects.sum { |object| ObjectSpace.memsize_of(object) }.fdiv([objects.size, 1].max),
                   stack:, sample: objects[objects.size / 2] }
        end

        # What an account has gained in each round.
        def growth(number, index)
          values = @balances.map { |balance| balance.fetch(number, [0, 0])[index] }
          values.each_cons(2).map { |before, after| after - before }
        end

        def class_name(object)
          RootPaths.class_name(object)
        end
      end
    end
  end
end
