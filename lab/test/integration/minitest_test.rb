# frozen_string_literal: true

require "carat/native_path"
require "test_helper"

# `require "carat/lab/minitest"` in a process of its own, without Carat's allocator unless a test says so.
class LabMinitestTest < Minitest::Test
  include Support::MemoryTestProcess

  HEAD = <<~RUBY
    require "minitest/autorun"
    require "carat/lab/minitest"
    KEPT = []
    LOG = +""
    CACHE = {}
  RUBY

  def test_sound_blocks_pass
    assert_passes(<<~RUBY)
      def test_strings
        assert_equal "no leak", assert_no_leak(seconds: 0.5) { "text" * 100 }
      end

      def test_little
        assert_allocations_at_most(200) { Array.new(100) { Object.new } }
      end

      def test_nothing
        assert_allocations_at_most(0) { nil }
      end

      def test_growth
        assert_private_growth_below("1MB", seconds: 0.5) { "text" * 100_000 }
      end
    RUBY
  end

  def test_object_that_is_kept_is_a_leak_with_its_line
    out = assert_fails("assert_no_leak(seconds: 0.5) { KEPT << Object.new }")

    # Without jemalloc, what the collector needs to mark the Array counts as well: 8 bytes.
    assert_match(/^leak: (4[6-9]|5[5-8])\.\d bytes a call \(.*, 95 %\), 1\.0\d objects a call$/, out)
    assert_match(/^ +48\.\d bytes and 1\.0\d objects a call: memory_test\.rb:8$/, out)
    assert_match(/^ +Object, Array grows$/, out)
    assert_match(/^ +kept by KEPT > Array$/, out)
    assert_includes out, "Carat's jemalloc is not preloaded: memory of C counts, but has no line."
  end

  def test_string_that_grows_is_a_leak_with_the_line_that_appends
    out = assert_fails("assert_no_leak(seconds: 0.5) { LOG << \"0123456789abcdef\" }")

    assert_match(/bytes and 0\.00 objects a call: memory_test\.rb:8\n +.*String grows$/, out)
  end

  def test_memory_of_c_is_a_leak_without_a_line
    out = assert_fails("require \"fiddle\"; assert_no_leak(seconds: 0.5) { Fiddle::LIB.call(1000) }", <<~RUBY)
      require "fiddle"
      Fiddle::LIB = Fiddle::Function.new(Fiddle.dlopen(nil)["malloc"], [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_VOIDP)
    RUBY

    assert_match(/^leak: 10\d\d\.\d bytes a call/, out)
  end

  def test_cache_with_a_bound_passes
    assert_passes(<<~RUBY)
      def test_cache
        number = 0
        refute_equal "leak", assert_no_leak(calls: 101) { CACHE[number = (number + 1) % 300] = "x" * 100 }
      end
    RUBY
  end

  def test_allocations_over_the_limit_are_named
    out = assert_fails("assert_allocations_at_most(9) { Array.new(10) { Object.new } }")

    assert_match(/^11 objects a call \(11 calls: 11\), at most 9 are allowed$/, out)
    assert_match(/^ +11 objects, \d+ bytes: memory_test\.rb:8 \(Object 10, Array 1\)$/, out)
  end

  def test_private_growth_over_the_limit_is_named
    out = assert_fails("assert_private_growth_below(\"100KB\", calls: 11) { KEPT << (\"x\" * 10_000) }")

    assert_match(/^121 calls add at least \d{4} KiB of private memory, less than 100 KiB are allowed: /, out)
    assert_match(/verdict: leak$/, out)
    assert_match(/objects a call: memory_test\.rb:8$/, out)
  end

  def test_requests_to_a_rails_application_pass_with_jemalloc
    assert_rails_passes(jemalloc)
  end

  def test_wrong_arguments_are_one_sentence
    { "assert_no_leak(rounds: 3) { nil }" => "rounds: 3 is less than 8",
      "assert_no_leak" => "no block given",
      "assert_allocations_at_most(\"x\") { nil }" => "\"x\" is not a number of objects",
      "assert_private_growth_below(\"much\") { nil }" => "\"much\" is not a number of bytes" }.each do |code, message|
      out, = run_ruby("#{HEAD}class Own < Minitest::Test\n  def test_it = #{code}\nend\n")
      assert_includes out, message
    end
  end

  def test_jemalloc_shows_the_stack_of_memory_of_c
    out = assert_fails("assert_no_leak(seconds: 0.5) { LIBC.call(1000) }", <<~RUBY, env: jemalloc)
      require "fiddle"
      LIBC = Fiddle::Function.new(Fiddle.dlopen(nil)["malloc"], [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_VOIDP)
    RUBY

    assert_match(/^ +10\d\d\.\d bytes and 0\.00 objects a call: memory_test\.rb:8\n +memory of C$/, out)
    refute_includes out, "not preloaded"
  end

  def test_errors_of_the_block_are_those_of_the_test
    out, status = run_ruby("#{HEAD}class Own < Minitest::Test\n  def test_it = assert_no_leak { raise \"oh\" }\nend\n")

    refute_predicate status, :success?
    assert_match(/RuntimeError: oh/, out)
  end

  private

  def assert_passes(body)
    out, status = run_ruby("#{HEAD}class Own < Minitest::Test\n#{body}end\n")
    assert_predicate status, :success?, out
  end

  def assert_rails_passes(env)
    Support::RailsApp::FILES.each do |name, text|
      FileUtils.mkdir_p(File.dirname(File.join(@directory, name)))
      write(name, text)
    end
    out, status = run_ruby(<<~RUBY, env: { "RAILS_ENV" => "production", **env })
      require "minitest/autorun"
      require_relative "config/environment"
      require "rack/mock"
      require "carat/lab/minitest"
      class Own < Minitest::Test
        def setup = @app = Rack::MockRequest.new(Rails.application)

        def test_item = assert_no_leak(seconds: 1) { @app.get("/items/1") }

        def test_objects = assert_allocations_at_most(5000) { @app.get("/items/1") }

        def test_growth = assert_private_growth_below("16MB", seconds: 1) { @app.get("/items/1") }
      end
    RUBY

    assert_predicate status, :success?, out
  end

  # The assertion is line 8 of the file.
  def assert_fails(assertion, more = "", failures: 1, env: {})
    body = "class Own < Minitest::Test\n  def test_it\n    #{assertion}\n  end\nend\n"
    out, status = run_ruby(HEAD + body + more, env:)
    refute_predicate status, :success?, out
    assert_match(/#{failures} failures, 0 errors/, out)
    out
  end

  def jemalloc
    { "LD_PRELOAD" => ::Carat::NativePath.malloc }
  end
end
