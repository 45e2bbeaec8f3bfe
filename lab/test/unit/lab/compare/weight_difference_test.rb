# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/compare/weight_difference"

module Carat
  class WeightDifferenceTest < Minitest::Test
    MIB = 1024 * 1024

    def test_only_what_differs_is_left
      report = compare(root(node("/a/app.rb", own: 5 * MIB), node("/a/same.rb", own: 3 * MIB)),
                       root(node("/b/app.rb", own: 7 * MIB), node("/b/same.rb", own: 3 * MIB)))

      assert_equal [8 * MIB, 10 * MIB], report.dig("tree", "inclusive")
      assert_equal({ "app.rb" => [5 * MIB, 7 * MIB] }, files(report))
    end

    def test_file_that_only_one_has_is_left
      report = compare(root(node("/a/old.rb", own: MIB)), root(node("/b/new.rb", own: 2 * MIB)))

      assert_equal({ "new.rb" => [0, 2 * MIB], "old.rb" => [MIB, 0] }, files(report))
      assert_equal %w[new.rb old.rb], report.dig("tree", "children").map { |child| child["file"] }
    end

    def test_versions_of_a_gem_and_of_ruby_are_the_same_file
      report = compare(root(node("/x/gems/heavy-1.0.0/lib/heavy.rb", gem: "heavy", own: MIB),
                            node("/usr/lib/ruby/3.1.0/json.rb", own: MIB)),
                       root(node("/y/gems/heavy-2.0.0/lib/heavy.rb", gem: "heavy", own: 2 * MIB),
                            node("/opt/lib/ruby/3.4.0/json.rb", own: 3 * MIB)))

      assert_equal({ "json.rb" => [MIB, 3 * MIB], "lib/heavy.rb" => [MIB, 2 * MIB] }, files(report))
    end

    def test_differences_that_cancel_out_are_not_lost
      report = compare(root(node("/a/outer.rb", node("/a/one.rb", own: MIB))),
                       root(node("/b/outer.rb", node("/b/two.rb", own: MIB))))

      assert_equal %w[outer.rb], report.dig("tree", "children").map { |child| child["file"] }
      assert_equal %w[one.rb two.rb], report.dig("tree", "children", 0, "children").map { |child| child["file"] }.sort
    end

    private

    def compare(one, other)
      reports = [{ "growth" => 1, "tree" => one }, { "growth" => 2, "tree" => other }]
      Lab::Compare::WeightDifference.new(reports, %w[/a /b]).report
    end

    def root(*children)
      node("(root)", *children)
    end

    def node(file, *children, own: 0, gem: "(application)")
      inclusive = own + children.sum { |child| child.dig("inclusive", "bytes") }
      { "file" => file, "gem" => gem, "own" => { "bytes" => own }, "inclusive" => { "bytes" => inclusive },
        "children" => children }
    end

    def files(report)
      report.dig("tree", "children").to_h { |child| [child["file"], child["inclusive"]] }
    end
  end
end
