# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../support/preloaded"

module Malloc
  # The functions that the library puts in the place of the C library's.
  class FunctionsTest < Minitest::Test
    include Support::Preloaded

    EXPORTED = %w[malloc calloc realloc free posix_memalign aligned_alloc memalign valloc pvalloc malloc_usable_size
                  malloc_trim mallctl].freeze

    def test_all_of_them_are_the_library_s
      assert_equal "[]\n", preloaded(<<~RUBY)
        ours = Fiddle.dlopen(Carat::NativePath.malloc)
        p(%w[#{EXPORTED.join(" ")}].reject { |name| Fiddle::Handle::DEFAULT[name] == ours[name] })
      RUBY
    end

    def test_memory_is_aligned_as_asked
      assert_equal "[0, 0, 0, 0, 0, 0]\n", preloaded(<<~RUBY)
        place = Fiddle::Pointer.malloc(8, Fiddle::RUBY_FREE)
        c("posix_memalign", POINTER, SIZE, SIZE, result: INT).call(place, 512, 100)
        two = %w[aligned_alloc memalign].map { |name| c(name, SIZE, SIZE).call(256, 512).to_i % 256 }
        one = %w[valloc pvalloc].map { |name| c(name, SIZE).call(100).to_i % 4096 }
        p [place.ptr.to_i % 512, *two, *one, c("malloc", SIZE).call(100).to_i % 16]
      RUBY
    end

    def test_usable_size_is_at_least_what_was_asked_for_and_whole_pages_are_whole
      assert_equal "[true, true, 8192]\n", preloaded(<<~RUBY)
        usable = c("malloc_usable_size", POINTER, result: SIZE)
        sizes = [1, 100, 5000, 3_000_000]
        p [sizes.all? { |size| usable.call(c("malloc", SIZE).call(size)) >= size }, usable.call(nil).zero?,
           usable.call(c("pvalloc", SIZE).call(4097))]
      RUBY
    end

    def test_calloc_gives_zeros_where_others_have_written
      assert_equal "true\n", preloaded(<<~RUBY)
        memories = 50.times.map { c("malloc", SIZE).call(5000) }
        memories.each { |memory| memory[0, 5000] = "x" * 5000 }
        memories.each { |memory| c("free", POINTER).call(memory) }
        p 50.times.all? { c("calloc", SIZE, SIZE).call(50, 100)[0, 5000] == "\\0" * 5000 }
      RUBY
    end

    def test_realloc_keeps_what_was_written
      assert_equal "[true, true]\n", preloaded(<<~RUBY)
        memory = c("malloc", SIZE).call(100)
        memory[0, 100] = "y" * 100
        memory = c("realloc", POINTER, SIZE).call(memory, 1_000_000)
        p [memory[0, 100] == "y" * 100, !c("realloc", POINTER, SIZE).call(nil, 10).null?]
      RUBY
    end

    def test_errors_are_those_of_the_c_library
      assert_equal "[[true, Errno::ENOMEM], [true, Errno::ENOMEM], [true, Errno::ENOMEM], [true, Errno::ENOMEM], " \
                   "[true, Errno::EINVAL], #{Errno::EINVAL::Errno}, #{Errno::ENOMEM::Errno}]\n", preloaded(<<~RUBY)
                     huge = 1 << 62
                     kinds = [Errno::ENOMEM, Errno::EINVAL]
                     fails = ->(memory) { [memory.null?, kinds.find { |kind| kind::Errno == Fiddle.last_error }] }
                     place = Fiddle::Pointer.malloc(8, Fiddle::RUBY_FREE)
                     memalign = c("posix_memalign", POINTER, SIZE, SIZE, result: INT)
                     p [fails[c("malloc", SIZE).call(huge)], fails[c("calloc", SIZE, SIZE).call(huge, 16)],
                        fails[c("realloc", POINTER, SIZE).call(nil, huge)], fails[c("pvalloc", SIZE).call((1 << 64) - 1)],
                        fails[c("aligned_alloc", SIZE, SIZE).call(3, 100)], memalign.call(place, 3, 100),
                        memalign.call(place, 64, huge)]
                   RUBY
    end

    def test_trimming_returns_pages
      before, after, done = preloaded(<<~RUBY, env: { "MALLOC_CONF" => "dirty_decay_ms:-1" }).split.map(&:to_i)
        memories = 4000.times.map { c("malloc", SIZE).call(10_000).tap { |memory| memory[0, 10_000] = "z" * 10_000 } }
        memories.each { |memory| c("free", POINTER).call(memory) }
        resident = -> { File.read("/proc/self/smaps_rollup")[/^Rss:\\s+(\\d+)/, 1] }
        puts resident.call
        done = c("malloc_trim", SIZE, result: INT).call(0)
        puts resident.call, done
      RUBY
      assert_equal 1, done
      assert_operator before - after, :>, 30_000, "kB"
    end
  end
end
