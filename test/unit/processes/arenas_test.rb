# frozen_string_literal: true

require "minitest/autorun"
require "carat/processes/arenas"

module Carat
  class ArenasTest < Minitest::Test
    def test_glibc_is_limited
      assert Processes::Arenas.limit({}, allocator: "glibc 2.41")
    end

    def test_other_allocators_and_those_who_set_a_variable_are_left_alone
      refute Processes::Arenas.limit({}, allocator: "jemalloc 5.3.0")
      %w[MALLOC_ARENA_MAX GLIBC_TUNABLES].each do |name|
        refute Processes::Arenas.limit({ name => "" }, allocator: "glibc 2.41")
      end
    end
  end
end
