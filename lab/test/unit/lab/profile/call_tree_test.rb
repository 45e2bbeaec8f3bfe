# frozen_string_literal: true

require "test_helper"
require "carat/lab/profile/branch"
require "carat/lab/profile/call_tree"
require "carat/lab/profile/export/folded"
require "carat/lab/profile/export/series"

module Carat
  class ProfileCallTreeTest < Minitest::Test
    SERVER = ["ruby", "Carat::Request::Lane#run", File.join(NativePath::ROOT, "lib/carat/request/lane.rb"), 9].freeze
    CFUNC = ["ruby", "Integer#times", "<cfunc>", 0].freeze
    INDEX = ["ruby", "Posts#index", "/srv/posts.rb", 12].freeze
    STRING = ["object", "String", nil, nil].freeze
    NEW_OBJECT = ["c", "rb_wb_protected_newobj_of", "/usr/lib/libruby-3.1.so.3.1", 77].freeze
    COLLECTOR = ["other", "(garbage collector)", nil, nil].freeze

    def test_calls_of_the_server_are_one_and_those_to_the_allocator_none
      tree = tree([SERVER, CFUNC, SERVER, INDEX, NEW_OBJECT, STRING], 40)

      assert_equal ["(carat);Posts#index (posts.rb:12);String 40"], folded(tree).lines
    end

    def test_methods_of_ruby_that_the_application_calls_stay
      assert_equal "(carat);Posts#index (posts.rb:12);Integer#times 8",
                   folded(tree([SERVER, INDEX, CFUNC], 8))
    end

    def test_collector_is_not_a_part_of_what_it_interrupts
      tree = tree([COLLECTOR, SERVER, INDEX, ["c", "mark", "/srv/gem.so", 1]], 8)

      assert_equal "(garbage collector);mark (gem.so) 8", folded(tree)
    end

    def test_addresses_in_names_do_not_tell_functions_apart
      tree = tree([["ruby", "#<Class:0x00007f00deadbeef>#call", "/srv/a.rb", 1]], 8)

      assert_equal ["#<Class:0x...>#call"], tree.frames.map(&:name)
    end

    def test_stack_without_a_function_that_counts_runs_no_ruby_code
      assert_equal "(no Ruby code) 8", folded(tree([NEW_OBJECT], 8))
    end

    def test_branches_have_their_own_and_inclusive_weight
      root = Lab::Profile::Branch.outward(recursion, :bytes)
      outer = root.children.first

      assert_equal [30, 10, 30, 20], [root.inclusive, outer.own, outer.inclusive, outer.children.first.own]
    end

    def test_inverted_branches_begin_with_the_functions_that_allocate
      root = Lab::Profile::Branch.inverted(recursion, :bytes)

      inner = root.children.first

      assert_equal [1, "Posts#index", 30, 10], [root.children.size, inner.frame.name, inner.inclusive, inner.own]
      assert_equal [20], inner.children.map(&:inclusive)
    end

    private

    def folded(tree)
      Lab::Profile::Folded.new(Lab::Profile::Series.new(:bytes, "alloc_space", "allocated", "bytes", tree)).to_s
    end

    # A tree of one stack, whose last call has allocated so many bytes.
    def tree(functions, bytes)
      weights = [*[0] * (functions.size - 1), bytes]
      build(functions, [nil, *0...(functions.size - 1)], [*0...functions.size], weights)
    end

    # A function that allocates 10 bytes and calls itself, which allocates 20.
    def recursion
      build([INDEX], [nil, 0], [0, 0], [10, 20])
    end

    def build(functions, callers, calls, bytes)
      zeros = [0] * calls.size
      Lab::Profile::CallTree.new({ "functions" => functions, "callers" => callers, "calls" => calls, "bytes" => bytes,
                                   "objects" => zeros, "live_bytes" => zeros, "live_objects" => zeros })
    end
  end
end
