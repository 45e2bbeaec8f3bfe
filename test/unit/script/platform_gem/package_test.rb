# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../script/platform_gem/package"
require_relative "../../../support/workplace"

class PlatformGemPackageTest < Minitest::Test
  include Support::Workplace

  # What a gem is packed from.
  Stub = Struct.new(:current, :parts)

  def test_part_that_needs_a_recent_glibc_is_refused
    needed = PlatformGem::GlibcNeed.of(RbConfig.ruby)
    error = assert_raises(PlatformGem::Refusal) { write_gem(RbConfig.ruby, glibc: Gem::Version.new("2.0")) }

    assert_equal "#{RbConfig.ruby} needs glibc #{needed}; compile it on Debian 12, which has 2.0", error.message
  end

  def test_checkout_without_parts_is_refused
    builds = Stub.new([], {})
    error = assert_raises(PlatformGem::Refusal) { PlatformGem::Package.new(builds, licenses: "").write(path("pkg")) }

    assert_match(/\Abuild\/ has no current parts for \w+: run script\/setup --build first\z/, error.message)
  end

  def test_what_is_not_a_compiled_file_is_an_error
    assert_raises(PlatformGem::Refusal) { write_gem(path("config.ru")) }
  end

  def test_part_that_is_linked_with_glibc_is_refused_for_musl
    error = assert_raises(PlatformGem::Refusal) { write_gem(RbConfig.ruby, library: "musl") }

    assert_equal "#{RbConfig.ruby} is linked with glibc, and the gem is for musl", error.message
  end

  def test_gem_is_named_after_its_c_library
    names = %w[gnu musl].map { |library| package(RbConfig.ruby, library:).specification.full_name }

    assert_equal(%w[gnu musl].map { |library| "carat-#{Carat::VERSION}-x86_64-linux-#{library}" }, names)
  end

  def test_gem_has_the_manual_and_the_completions_and_no_sources_of_parts
    files = package(RbConfig.ruby).specification.files

    assert_includes files, "share/man/man1/carat.1"
    assert_includes files, "share/bash-completion/completions/carat"
    assert_empty files.grep(%r{\A(crates|ext)/})
  end

  private

  def write_gem(part, **options)
    package(part, **options).write(path("pkg"))
  end

  def package(part, **options)
    builds = Stub.new([PlatformGem::Build.new("build", "3.3.0", "x86_64")], { "carat/carat-edge" => part })
    PlatformGem::Package.new(builds, licenses: "", cpu: "x86_64", **options)
  end
end
