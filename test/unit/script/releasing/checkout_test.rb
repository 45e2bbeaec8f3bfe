# frozen_string_literal: true

require "minitest/autorun"
require "open3"
require_relative "../../../../script/releasing/checkout"
require_relative "../../../support/workplace"

class ReleasingCheckoutTest < Minitest::Test
  include Support::Workplace

  ADDRESS = "https://git.test/carat"

  def setup
    super
    version("lib/carat/version.rb", "0.1.0", "  REPOSITORY = \"#{ADDRESS}\"\n")
    version("lab/lib/carat/lab/version.rb", "0.1.0")
    Releasing::Checkout::CHANGELOGS.each { |path|
 write(path, "# A\n\n## [Unreleased]\n\n## [0.1.0] - 2026-01-01\n\n- a\n") }
    git("init", "-q")
    commit
  end

  def test_checkout_that_is_what_its_tag_promises_has_no_obstacles
    assert_empty checkout.obstacles(tag: "v0.1.0", address: ADDRESS)
    assert_equal "- a", checkout.notes
  end

  def test_each_obstacle_is_a_sentence
    write("CHANGELOG.md", "# A\n\n## [Unreleased]\n\n- a\n")
    version("lib/carat/version.rb", "0.1.0", "  REPOSITORY = \"https://git.example/carat\"\n")

    assert_equal ["the tag v0.2.0 is not v0.1.0",
                  "CHANGELOG.md has no section with a date for 0.1.0: script/release --write 0.1.0",
                  "CHANGELOG.md has lines that belong to no version: script/release --write",
                  "lib/carat/version.rb: REPOSITORY is https://git.example/carat, which is nobody's: name the real one",
                  "files of the checkout have changes that are not committed"], checkout.obstacles(tag: "v0.2.0")
  end

  def test_tag_of_another_repository_is_an_obstacle
    assert_equal ["lib/carat/version.rb: REPOSITORY is #{ADDRESS}, and this is https://git.test/fork"],
                 checkout.obstacles(address: "https://git.test/fork")
  end

  def test_new_version_is_written_to_both_gems_and_their_changelogs
    Releasing::Checkout::CHANGELOGS.each { |path| write(path, "# A\n\n## [Unreleased]\n\n- b\n") }
    checkout.write("0.2.0", "2026-02-03")

    assert_equal "0.2.0", checkout.version
    assert_equal "- b", checkout.notes
    assert_equal ["files of the checkout have changes that are not committed"],
                 checkout.obstacles(tag: "v0.2.0", address: ADDRESS)
  end

  def test_version_that_has_a_tag_is_refused
    git("tag", "v0.1.0")
    error = assert_raises(Releasing::Refusal) { checkout.written("0.1.0", "2026-02-03") }

    assert_equal "v0.1.0 is a tag already", error.message
  end

  def test_gems_of_different_versions_are_refused
    version("lab/lib/carat/lab/version.rb", "0.0.9")

    assert_raises(Releasing::Refusal) { checkout.version }
  end

  private

  def checkout
    Releasing::Checkout.new(@workplace)
  end

  def version(file, number, more = "")
    write(file, "module Carat\n  VERSION = \"#{number}\"\n#{more}end\n")
  end

  def commit
    git("add", "--all")
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "a")
  end

  def git(*words)
    output, status = Open3.capture2e("git", "-C", @workplace, *words)
    assert_predicate status, :success?, output
  end
end
