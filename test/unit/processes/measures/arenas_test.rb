# frozen_string_literal: true

require "minitest/autorun"
require "carat/processes/measures/arenas"

module Carat
  class ArenasTest < Minitest::Test
    def test_glibc_is_limited_to_one_arena
      assert Processes::Arenas.limit({}, allocator: "glibc 2.41")
    end

    def test_other_allocators_and_settings_of_the_user_are_kept
      refute Processes::Arenas.limit({}, allocator: "jemalloc 5.3.0")
      %w[MALLOC_ARENA_MAX GLIBC_TUNABLES].each do |name|
        refute Processes::Arenas.limit({ name => "" }, allocator: "glibc 2.41")
      end
    end
  end
end
