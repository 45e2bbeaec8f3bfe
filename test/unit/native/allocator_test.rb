# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../support/preloaded"

module Native
  class AllocatorTest < Minitest::Test
    include Support::Preloaded

    FIGURES = %i[allocated active resident retained mapped].freeze
    SHOW = "print Marshal.dump(Carat::Native.allocator)"

    def test_jemalloc_tells_its_version_and_all_figures
      told = told_by(Carat::NativePath.malloc)

      assert_equal "jemalloc 5.3.0", told[:name]
      assert_equal [:name, *FIGURES], told.keys
      assert_operator told[:allocated], :>, 1_000_000
      assert_operator told[:allocated], :<=, told[:active]
      assert_operator told[:active], :<=, told[:resident]
    end

    def test_figures_are_those_of_now
      difference = preloaded(<<~RUBY).to_i
        before = Carat::Native.allocator[:allocated]
        text = "x" * 10_000_000
        puts Carat::Native.allocator[:allocated] - before
      RUBY
      assert_in_delta 10_000_000, difference, 1_000_000
    end

    def test_glibc_tells_what_is_allocated_and_mapped
      told = told_by("")

      assert_match(/\Aglibc \d+\.\d+\z/, told[:name])
      assert_operator told[:allocated], :<=, told[:mapped]
      assert_equal [nil] * 3, told.values_at(:active, :resident, :retained)
    end

    def test_a_jemalloc_that_the_user_preloads_is_found
      library = Dir["/usr/lib/*/libjemalloc.so.2"].first or skip "libjemalloc2 is not installed"

      assert_match(/\Ajemalloc \d+\.\d+\.\d+\z/, told_by(library)[:name])
    end

    private

    def told_by(library)
      Marshal.load(preloaded(SHOW, library:)) # rubocop:disable Security/MarshalLoad -- of our own child
    end
  end
end
