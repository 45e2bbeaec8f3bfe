# frozen_string_literal: true

require "test_helper"

# `require "carat/lab/rspec"` in a process of its own.
class LabRspecTest < Minitest::Test
  include Support::MemoryTestProcess

  needs("RSpec is not installed") if Gem::Specification.find_all_by_name("rspec-core").empty?

  def test_sound_blocks_pass
    out, status = run_spec(<<~RUBY)
      it { expect { "text" * 100 }.not_to leak_memory(seconds: 0.5) }
      it { expect { Array.new(100) { Object.new } }.to allocate_at_most(200) }
      it { expect { "text" * 100_000 }.to grow_private_memory_below("1MB", seconds: 0.5) }
    RUBY

    assert_predicate status, :success?, out
    assert_includes out, "3 examples, 0 failures"
  end

  def test_failures_name_the_place
    out, status = run_spec(<<~RUBY)
      it { expect { KEPT << Object.new }.not_to leak_memory(seconds: 0.5) }
      it { expect { Array.new(10) { Object.new } }.to allocate_at_most(9) }
      it { expect { KEPT << ("x" * 10_000) }.to grow_private_memory_below("100KB", calls: 11) }
    RUBY

    refute_predicate status, :success?, out
    assert_includes out, "3 examples, 3 failures"
    assert_match(/expected the block not to leak memory, but: leak: \d+\.\d bytes a call/, out)
    assert_match(/objects a call: memory_test\.rb:4$/, out)
    assert_match(/expected the block to allocate at most 9 objects, but: 11 objects a call/, out)
    assert_match(/11 objects, \d+ bytes: memory_test\.rb:5 \(Object 10, Array 1\)$/, out)
    assert_match(/expected the block to grow private memory below 100KB, but: 121 calls add at least/, out)
    assert_match(/objects a call: memory_test\.rb:6$/, out)
  end

  private

  def run_spec(examples)
    run_ruby(<<~RUBY, "-S", "rspec", "--no-color", "memory_test.rb")
      require "carat/lab/rspec"
      KEPT = []
      RSpec.describe("memory") do
      #{examples}end
    RUBY
  end
end
