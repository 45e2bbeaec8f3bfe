# frozen_string_literal: true

require "fileutils"
require "test_helper"
require "tmpdir"
require_relative "../../../script/suite/rooms"

class RoomsTest < Minitest::Test
  ROOMS = %w[main http dispatch exchange].freeze

  def test_imports_of_rooms_below_are_right
    assert_empty wrong("main.rs" => "mod http;\nuse crate::http::serve;\n",
                       "http/mod.rs" => "mod serve;\npub(crate) use serve::serve;\n",
                       "http/serve.rs" => "use crate::dispatch::Lane;\nuse crate::log::Log;\n",
                       "dispatch/mod.rs" => "mod lane;\npub(crate) use lane::Lane;\n",
                       "dispatch/lane.rs" => "use crate::exchange;\nuse std::http::X;\n",
                       "exchange/mod.rs" => "", "log.rs" => "")
  end

  def test_an_import_of_a_room_above_is_named_with_its_place_and_reason
    found = wrong("http/mod.rs" => "mod refusal;\npub(crate) use refusal::Refusal;\n",
                  "http/refusal.rs" => "", "dispatch/mod.rs" => "",
                  "dispatch/lane.rs" => "use std::fmt;\n\nuse crate::http::{\n    Refusal,\n};\n")

    assert_equal ["src/dispatch/lane.rs:3 imports crate::http::Refusal, but dispatch is below http: " \
                  "a room imports only rooms below it"], found
  end

  def test_a_module_without_a_room_is_at_the_bottom
    found = wrong("log.rs" => "fn f() { crate::exchange::call() }\n", "exchange/mod.rs" => "")

    assert_match(/\Asrc\/log.rs:1 imports crate::exchange::call, but log is below exchange/, found.first)
  end

  def test_files_that_import_each_other_by_way_of_a_third_are_a_circle
    found = wrong("exchange/mod.rs" => "mod a;\nmod b;\nmod c;\npub(crate) use b::B;\n",
                  "exchange/a.rs" => "use super::B;\n", "exchange/b.rs" => "use super::c::C;\n",
                  "exchange/c.rs" => "use crate::exchange::a::A;\n")

    assert_equal 1, found.size
    assert_match(%r{\Asrc/exchange: a\.rs, b\.rs, c\.rs import each other in a circle}, found.first)
    assert_includes found.first, "  a.rs imports b.rs: src/exchange/a.rs:1 names super::B"
  end

  def test_folders_are_in_a_circle_even_if_no_two_files_are
    found = wrong("body/request/a.rs" => "use crate::body::response::c::C;\n", "body/request/b.rs" => "",
                  "body/response/c.rs" => "", "body/response/d.rs" => "use crate::body::request::b::B;\n",
                  "body/mod.rs" => "", "body/request/mod.rs" => "", "body/response/mod.rs" => "")

    assert_match(%r{\Asrc/body: request, response import each other}, found.first)
  end

  def test_a_module_and_the_children_that_extend_it_are_no_circle
    assert_empty wrong("state.rs" => "mod plan;\nmod stop;\nuse self::plan::Plan;\n", "state/plan.rs" => "",
                       "state/stop.rs" => "use super::State;\nuse super::plan::Plan;\n")
  end

  def test_tests_and_comments_import_what_they_like
    assert_empty wrong("dispatch/mod.rs" => "#[cfg(test)]\nmod fixture;\n", "http/mod.rs" => "",
                       "dispatch/fixture.rs" => "use crate::http::Server;\n",
                       "dispatch/a.rs" => "// crate::http\n#[cfg(test)]\nmod tests {\n    use crate::http;\n}")
  end

  private

  def wrong(files)
    Dir.mktmpdir do |directory|
      files.each do |path, text|
        FileUtils.mkdir_p(File.join(directory, "src", File.dirname(path)))
        File.write(File.join(directory, "src", path), text)
      end
      Dir.chdir(directory) { Suite::Rooms.new("src", rooms: ROOMS).failures }
    end
  end
end
