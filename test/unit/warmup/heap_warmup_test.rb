# frozen_string_literal: true

require "test_helper"
require "carat/launch/surroundings/collector_policy"
require "carat/warmup/heap_warmup"

module Carat
  class HeapWarmupTest < Minitest::Test
    PROGRAM = <<~RUBY
      require "carat/warmup/heap_warmup"
      kept = Array.new(100_000) { |n| "object number \#{n} that stays" }
      Array.new(300_000) { |n| "object number \#{n} that nobody keeps" }
      Carat::Warmup::HeapWarmup.run
      puts Carat::Warmup::HeapWarmup.send(:slots).fdiv(GC.stat(:heap_live_slots)), kept.size
    RUBY

    def test_what_was_dropped_leaves_few_slots_for_workers_to_fill
      skip "this Ruby has no Process.warmup of this kind" unless Process.respond_to?(:warmup) && RUBY_VERSION < "4.1"
      skip "Ruby 3.3 keeps the pages that its collections have emptied" if RUBY_VERSION < "3.4"

      paths = $LOAD_PATH.flat_map { |directory| ["-I", directory] }
      output = IO.popen([Launch::CollectorPolicy::FRUGAL, RbConfig.ruby, *paths, "-e", PROGRAM], &:read)

      assert_operator output.to_f, :<, 1.3
    end
  end
end
