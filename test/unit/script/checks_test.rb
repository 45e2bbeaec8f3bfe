# frozen_string_literal: true

require "test_helper"
require_relative "../../../script/suite/rooms"
require_relative "../../../script/suite/sizes"
require_relative "../../../script/suite/type_names"

# What is planted is found, with its place: nobody would miss a check that finds nothing.
class ChecksTest < Minitest::Test
  include Support::Workplace

  def test_long_functions_and_full_folders_are_found
    { "lib/a.rb" => "def long\n#{"  x\n" * 49}end\n", "lib/b.rb" => "def a(b = 1) = b\n#{"x\n" * 60}if x\nend\n",
      "crates/a/src/a.rs" => "pub(crate) async fn long() {\n#{"    x();\n" * 24}}\n" \
                             "#[cfg(test)]\nmod tests {\n#{"    // x\n" * 600}}\n",
      **(1..13).to_h { |number| ["lab/lib/a/#{number}.rb", ""] } }.each { |name, text| write(name, text) }

    assert_equal ["note: crates/a/src/a.rs:1 long: 26 lines, budget 25, limit 50",
                  "failure: lab/lib/a/: 13 files, budget 12, limit 12",
                  "failure: lib/a.rb:1 long: 51 lines, budget 25, limit 50"],
                 Suite::Sizes.new.findings.map(&:to_s).sort_by { |finding| [finding[/\A[mn]/] ? 0 : 1, finding] }
  end

  def test_imports_of_rooms_above_are_found
    { "http/mod.rs" => "mod refusal;\npub(crate) use refusal::Refusal;\n", "http/refusal.rs" => "", "log.rs" => "",
      "dispatch/mod.rs" => "#[cfg(test)]\nmod fixture;\n", "dispatch/fixture.rs" => "use crate::http::Refusal;\n",
      "dispatch/lane.rs" => "use std::fmt;\n// crate::http\nuse crate::http::{\n    Refusal,\n};\nuse crate::log;\n" }
      .each { |name, text| write("src/#{name}", text) }

    assert_equal ["src/dispatch/lane.rs:3 imports crate::http::Refusal, but dispatch is below http: " \
                  "a room imports only rooms below it"], Suite::Rooms.new("src", rooms: %w[http dispatch]).failures
  end

  def test_files_and_folders_that_import_each_other_are_found
    { "lib.rs" => "mod b;\n\nmod a {\n    //! A.\n\n    mod x;\n    mod y;\n    pub(crate) use y::Y;\n}\n",
      "a/x.rs" => "use super::Y;\n",
      "a/y.rs" => "use super::z::Z;\n", "a/z.rs" => "use crate::a::x::X;\n",
      "b.rs" => "mod plan;\nuse self::plan::Plan;\n", "b/plan.rs" => "", "b/stop.rs" => "use super::plan::Plan;\n",
      "c/mod.rs" => "", "c/d/mod.rs" => "", "c/e/mod.rs" => "", "c/d/x.rs" => "use crate::c::e::x::X;\n",
      "c/d/y.rs" => "", "c/e/x.rs" => "", "c/e/y.rs" => "use crate::c::d::y::Y;\n" }
      .each { |name, text| write("src/#{name}", text) }
    files, folders, *others = Suite::Rooms.new("src").failures.sort

    assert_match(%r{\Asrc/a: x\.rs, y\.rs, z\.rs import each other in a circle.*imports y\.rs: src/a/x\.rs:1}m, files)
    assert_match(%r{\Asrc/c: d, e import each other}, folders)
    assert_empty others
  end

  def test_types_of_one_name_are_found
    write("a.rs", "enum State {}\ntrait Lane {}\n")
    write("b.rs", "//! B.\n\npub(crate) struct State;\nstruct Lane;\nfn f() {\n    struct State;\n}\n")

    assert_equal ["State is the name of 2 types (a.rs:1, b.rs:3): put the noun first, as in LaneState"],
                 Suite::TypeNames.new(%w[a.rs b.rs], allowed: ["Lane"]).failures
  end
end
