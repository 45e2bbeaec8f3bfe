# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../support/preloaded"

module Malloc
  # `calloc`, whose small pieces lie in an arena of their own.
  class CallocTest < Minitest::Test
    include Support::Preloaded

    ARENA = <<~RUBY
      def arena(memory) = jemalloc("arenas.lookup", 4, memory)
      ZEROED = c("calloc", SIZE, SIZE)
      PLAIN = -> { c("malloc", SIZE).call(1500) } # more than threads cache, which may have a piece that calloc gave
    RUBY

    def test_small_pieces_lie_apart_from_what_malloc_gives
      assert_equal "[1, true, true]\n", preloaded(<<~RUBY)
        #{ARENA}
        apart = [ZEROED.(1, 16), ZEROED.(128, 16), ZEROED.(0, 8)].map { |memory| arena(memory) }.uniq
        others = [ZEROED.(1, 2049), PLAIN.()].map { |memory| arena(memory) }
        p [apart.size, others == [0, 0], (apart & others).empty?]
      RUBY
    end

    def test_small_pieces_are_zeros_where_others_have_written
      assert_equal "true\n", preloaded(<<~RUBY)
        gives_zeros = (1..2048).step(61).all? do |size|
          memories = Array.new(20) { c("calloc", SIZE, SIZE).call(1, size) }
          clean = memories.all? { |memory| memory[0, size] == "\\0" * size }
          memories.each { |memory| memory[0, size] = "x" * size }
          memories.each { |memory| c("free", POINTER).call(memory) }
          clean
        end
        p gives_zeros
      RUBY
    end

    def test_a_product_that_is_no_size_is_refused
      assert_equal "[true, Errno::ENOMEM]\n", preloaded(<<~RUBY)
        memory = c("calloc", SIZE, SIZE).call(1 << 33, 1 << 33)
        p [memory.null?, [Errno::ENOMEM].find { |kind| kind::Errno == Fiddle.last_error }]
      RUBY
    end

    def test_pieces_grow_and_end_like_all_others
      assert_equal "true\n", preloaded(<<~RUBY)
        memory = c("calloc", SIZE, SIZE).call(1, 32)
        memory[0, 2] = "ab"
        memory = c("realloc", POINTER, SIZE).call(memory, 100_000)
        p memory[0, 4] == "ab\\0\\0"
        c("free", POINTER).call(memory)
      RUBY
    end

    def test_the_user_s_arenas_are_left_to_malloc
      apart, plain = preloaded("#{ARENA}puts arena(ZEROED.(1, 16)), arena(PLAIN.())",
                               env: { "MALLOC_CONF" => "narenas:3" }).split.map(&:to_i)

      assert_operator apart, :>, 2
      assert_includes 0..2, plain
    end
  end
end
