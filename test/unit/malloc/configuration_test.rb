# frozen_string_literal: true

require "minitest/autorun"
require "rbconfig"
require_relative "../../support/preloaded"

module Malloc
  # What the library's jemalloc is configured as.
  class ConfigurationTest < Minitest::Test
    include Support::Preloaded

    NUMBERS = "p [jemalloc('opt.narenas', 4), jemalloc('opt.background_thread', 1), jemalloc('opt.muzzy_decay_ms', 8)]"

    def test_the_library_s_options_are_its_own_and_not_the_edge_s
      assert_equal "[1, 0, 0]\n", preloaded(NUMBERS)
    end

    SLABS = <<~RUBY
      bins = (0...jemalloc("arenas.nbins", 4)).select { |bin| jemalloc("arenas.bin.\#{bin}.size", 8) >= 8192 }
      p bins.map { |bin| jemalloc("arenas.bin.\#{bin}.slab_size", 8) / 4096 }
    RUBY

    def test_large_blocks_are_not_gathered_as_in_the_edge
      skip "jemalloc has pages of 64 KiB on aarch64" if RbConfig::CONFIG["host_cpu"] == "aarch64"
      assert_equal "[2, 5, 3, 7]\n", preloaded(SLABS)
    end

    def test_the_user_s_variable_overrules_them
      assert_equal "[3, 0, 77]\n", preloaded(NUMBERS, env: { "MALLOC_CONF" => "narenas:3,muzzy_decay_ms:77" })
    end

    def test_no_native_thread_is_the_library_s
      count = "File.read('/proc/self/status')[/^Threads:\\s+(\\d+)/, 1].display"

      assert_equal preloaded(count, library: ""), preloaded(count)
    end
  end
end
