# frozen_string_literal: true

require "minitest/autorun"
require "tmpdir"
require_relative "../../../script/image/build"

# What script/build_image decides without Docker.
class BuildImageTest < Minitest::Test
  def test_an_application_without_gems_that_compile_gets_no_compiler
    assert_equal ["RUBY_VERSION=4.0", "BUILD_PACKAGES=ca-certificates", "RUNTIME_PACKAGES="],
                 Image.arguments("carat" => "0.1.0", "rack" => "3.2.7")
  end

  def test_a_gem_that_is_compiled_needs_only_its_library
    _, build, runtime = Image.arguments("sqlite3" => "2.9.6-x86_64-linux-gnu")

    assert_equal %w[BUILD_PACKAGES=ca-certificates RUNTIME_PACKAGES=libsqlite3-0], [build, runtime]
  end

  def test_libraries_are_those_of_the_gems_in_the_lock_file
    Dir.mktmpdir do |application|
      lock = "GEM\n  specs:\n    rack (3.2.7)\n    sqlite3 (2.9.6)\n      rake\n"
      File.write(File.join(application, "Gemfile.lock"), lock)
      _, build, runtime = Image.arguments(Image.locked(application))

      assert_match(/=build-essential .* libsqlite3-dev\z/, build)
      assert_equal "RUNTIME_PACKAGES=libsqlite3-0", runtime
    end
  end
end
