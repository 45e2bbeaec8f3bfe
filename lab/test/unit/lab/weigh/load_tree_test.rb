# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/weigh/load_tree"

module Carat
  class LoadTreeTest < Minitest::Test
    def test_each_file_has_its_own_weight_and_that_of_what_it_loads
      tree = tree([row(1, 100), row(3, 40)], loaded(3, "/a.rb"), loaded(4, "/b.rb"))
      outer = tree.root.children.first

      assert_equal [100, 140], [outer.weight.bytes, outer.inclusive.bytes]
      assert_equal 140 + 7 + 5, tree.root.inclusive.bytes
      assert_equal 11, tree.collector
    end

    def test_call_that_loads_nothing_belongs_to_its_file_which_is_named_with_the_other
      tree = tree([row(1, 100), row(1, 40), row(4, 3)], loaded(3, "/a.rb"), loaded(4, "/b.rb"),
                  call(5, "/a.rb", "known"))
      first, second = tree.root.children

      assert_equal 43, second.weight.bytes
      assert_equal ["/b.rb"], first.also_by
    end

    def test_failed_call_is_a_file_only_when_it_loaded_something
      tree = tree([row(1, 10), row(1, 20), row(4, 5)], call(3, "none", "failed"), call(4, "half", "failed"),
                  loaded(5, "/part.rb"))

      assert_equal ["half"], tree.root.children.map(&:path)
      assert_equal 7 + 5 + 10, tree.root.weight.bytes
    end

    def test_account_that_no_call_ended_belongs_to_the_one_around
      tree = tree([row(1, 10), row(3, 20)], loaded(3, "/a.rb"))

      assert_equal 30, tree.root.children.first.weight.bytes
    end

    def test_gems_are_sorted_by_weight
      tree = tree([row(1, 10), row(1, 500), row(1, 20)], loaded(3, "/a.rb", "small"), loaded(4, "/b.rb", "large"),
                  loaded(5, "/c.rb", "small"))

      assert_equal({ "large" => 500, "small" => 30, "(boot)" => 12 }, tree.gems.transform_values(&:bytes))
    end

    private

    # The accounts that are always there weigh 7, 5, and 11.
    def tree(rows, *calls)
      Lab::Weigh::LoadTree.new([row(0, 7), row(0, 5), row(0, 11), *rows], calls)
    end

    def row(parent, bytes)
      [parent, bytes, 0, 1, 0, 0.1]
    end

    def loaded(number, file, gem = "some")
      call(number, file, "loaded", gem)
    end

    def call(number, file, outcome, gem = "some")
      { "number" => number, "file" => file, "gem" => gem, "outcome" => outcome }
    end
  end
end
