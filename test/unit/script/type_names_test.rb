# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../../../script/suite/type_names"

class TypeNamesTest < Minitest::Test
  def test_a_name_of_two_types_is_named_with_both_places
    found = wrong({ "a.rs" => "enum State {}\n", "b.rs" => "//! B.\n\npub(crate) struct State;\n" })

    assert_equal ["State is the name of 2 types (a.rs:1, b.rs:3): put the noun first, as in LaneState"], found
  end

  def test_types_within_functions_and_tests_may_share_a_name
    tests = "fn f() {\n    struct State;\n}\n#[cfg(test)]\nmod tests {\n    struct State;\n}\n"

    assert_empty wrong({ "a.rs" => "pub struct State;\n", "b.rs" => tests })
  end

  def test_a_name_that_is_allowed_may_stand_for_several_things
    assert_empty wrong({ "a.rs" => "trait Lane {}\n", "b.rs" => "struct Lane;\n" }, allowed: ["Lane"])
  end

  private

  def wrong(files, allowed: [])
    Dir.mktmpdir do |directory|
      files.each { |path, text| File.write(File.join(directory, path), text) }
      Dir.chdir(directory) { Suite::TypeNames.new(files.keys, allowed: allowed).failures }
    end
  end
end
