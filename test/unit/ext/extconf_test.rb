# frozen_string_literal: true

require "open3"
require "rbconfig"
require "test_helper"
require_relative "../../../ext/carat/makefile"
require_relative "../../../ext/carat/prerequisites"

class ExtconfTest < Minitest::Test
  include Support::Workplace

  ROOT = File.expand_path("../../..", __dir__)
  EXTCONF = File.join(ROOT, "ext/carat/extconf.rb")
  OLDEST_RUST = File.read(File.join(ROOT, "Cargo.toml"))[/^rust-version = "(.+)"/, 1]

  def test_missing_tool_is_named_with_its_package
    output, status = extconf("PATH" => @workplace)

    assert_equal 1, status.exitstatus
    assert_equal 1, output.lines.size, output
    assert_match(/missing: cargo #{Regexp.escape(OLDEST_RUST)} or later .*, a C compiler .*build-essential/, output)
  end

  def test_old_cargo_is_named_with_its_version
    write("cargo", "#!/bin/sh\necho 'cargo 1.63.0 (abc 2022-01-01)'\n")
    File.chmod(0o755, "cargo")
    output, = extconf("PATH" => @workplace)

    assert_includes output, "cargo #{OLDEST_RUST} or later; found 1.63.0 (Debian 13: apt-get install cargo; Debian 12:"
  end

  def test_where_carat_does_not_serve_nothing_is_compiled
    output, status = extconf("PATH" => @workplace, "RUBYOPT" => "-r#{ROOT}/test/support/another_system")

    assert_predicate status, :success?, output
    assert_equal Carat::Makefile::NOTHING, makefile
  end

  def test_without_a_target_directory_compiled_crates_are_removed
    extconf("CARGO_TARGET_DIR" => nil)

    assert_includes makefile, %(rm -rf "#{path("target")}")
  end

  def test_given_target_directory_is_kept
    extconf("CARGO_TARGET_DIR" => "/somewhere/target")

    assert_includes makefile, 'CARGO_TARGET_DIR="/somewhere/target"'
    refute_includes makefile, "rm -rf"
  end

  def test_bindings_are_made_for_the_ruby_that_runs
    extconf("CARGO_TARGET_DIR" => nil)

    assert_includes makefile, %(RUBY="#{RbConfig.ruby}" RUBY_VERSION="#{RUBY_VERSION}p)
  end

  def test_another_processor_has_its_own_output_and_linker
    extconf("CARGO_TARGET_DIR" => "/somewhere/target", "CARGO_BUILD_TARGET" => "aarch64-unknown-linux-gnu",
            "CC" => "aarch64-linux-gnu-gcc")

    assert_includes makefile, 'RELEASE = "/somewhere/target/aarch64-unknown-linux-gnu/release"'
    assert_includes makefile, "CC = aarch64-linux-gnu-gcc\n"
  end

  def test_aarch64_gets_an_allocator_for_the_largest_pages
    extconf({})
    refute_includes makefile, "LG_PAGE"

    extconf({}, "-e", 'RbConfig::CONFIG["host_cpu"] = "aarch64"; load ARGV.first')
    assert_includes makefile, 'JEMALLOC_SYS_WITH_LG_PAGE="$${JEMALLOC_SYS_WITH_LG_PAGE:-16}" cargo build'
  end

  private

  def extconf(env, *words)
    Open3.capture2e(env, RbConfig.ruby, *words, EXTCONF, chdir: @workplace)
  end

  def makefile
    File.read("Makefile")
  end
end
