# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../support/preloaded"

module Malloc
  # What the library's jemalloc is configured as.
  class ConfigurationTest < Minitest::Test
    include Support::Preloaded

    NUMBERS = <<~RUBY
      def option(name, length)
        value = Fiddle::Pointer.malloc(8, Fiddle::RUBY_FREE)
        size = Fiddle::Pointer.malloc(8, Fiddle::RUBY_FREE)
        size[0, 8] = [length].pack("q")
        c("mallctl", POINTER, POINTER, POINTER, POINTER, SIZE, result: INT).call("opt.\#{name}", value, size, nil, 0)
        value[0, length].unpack1({ 1 => "C", 4 => "L", 8 => "q" }.fetch(length))
      end
      p [option("narenas", 4), option("background_thread", 1), option("muzzy_decay_ms", 8)]
    RUBY

    def test_the_library_s_options_are_its_own_and_not_the_edge_s
      assert_equal "[1, 0, 0]\n", preloaded(NUMBERS)
    end

    SLABS = <<~RUBY
      def number(name, length)
        value = Fiddle::Pointer.malloc(8, Fiddle::RUBY_FREE)
        size = Fiddle::Pointer.malloc(8, Fiddle::RUBY_FREE)
        value[0, 8], size[0, 8] = [0].pack("q"), [length].pack("q")
        c("mallctl", POINTER, POINTER, POINTER, POINTER, SIZE, result: INT).call(name, value, size, nil, 0)
        value[0, 8].unpack1("q")
      end
      bins = (0...number("arenas.nbins", 4)).select { |bin| number("arenas.bin.\#{bin}.size", 8) >= 8192 }
      p bins.map { |bin| number("arenas.bin.\#{bin}.slab_size", 8) / 4096 }
    RUBY

    def test_large_blocks_are_not_gathered_as_in_the_edge
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
