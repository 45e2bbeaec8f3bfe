# frozen_string_literal: true

require "test_helper"
require "carat/launch/surroundings/collector_policy"
require "carat/warmup/heap_warmup"

module Carat
  class HeapWarmupTest < Minitest::Test
    # Each fiftieth of the dropped objects stays, so that few pages are empty without a compaction.
    PROGRAM = <<~RUBY
      require "carat/warmup/heap_warmup"
      kept = Array.new(300_000) { |n| "object number \#{n} that stays" }
      dropped = Array.new(ARGV.first.to_i) { |n| "object number \#{n} that nobody keeps" }
      kept.concat(dropped.each_slice(50).map(&:first))
      dropped = nil
      Carat::Warmup::HeapWarmup.run
      stats = GC.stat
      puts stats[:heap_available_slots] + stats[:heap_allocatable_slots] - stats[:heap_live_slots], kept.size
    RUBY
    MORE = 20_000

    def test_what_was_dropped_leaves_few_slots_for_workers_to_fill
      skip "this Ruby has no Process.warmup of this kind" unless Process.respond_to?(:warmup) && RUBY_VERSION < "4.1"
      skip "Ruby 3.3 keeps half of the heap, whatever is dropped" if RUBY_VERSION < "3.4"

      none, dropped = [0, 600_000].map { |count| slots(count) }

      assert_operator dropped, :<, none + MORE
    end

    private

    # How many slots a worker could fill before it collects garbage.
    def slots(dropped)
      paths = $LOAD_PATH.flat_map { |directory| ["-I", directory] }
      output = IO.popen([Launch::CollectorPolicy::FRUGAL, RbConfig.ruby, *paths, "-e", PROGRAM, dropped.to_s], &:read)
      Integer(output.lines.first, 10)
    end
  end
end
