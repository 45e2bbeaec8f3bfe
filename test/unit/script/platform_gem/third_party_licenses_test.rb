# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../script/platform_gem/third_party_licenses"
require_relative "../../../support/workplace"

class PlatformGemThirdPartyLicensesTest < Minitest::Test
  include Support::Workplace

  def test_crates_that_run_are_listed_with_their_license
    needs = { "carat-edge" => %w[hyper macro criterion:dev cc:build], "hyper" => %w[bytes], "macro" => %w[syn] }
    text = PlatformGem::ThirdPartyLicenses.new(metadata(needs)).to_s

    assert_equal ["* bytes 1.0.0: MIT", "* hyper 1.0.0: MIT"], text.lines(chomp: true).grep(/\A\*/)
  end

  def test_crates_with_the_same_text_share_it
    write("hyper/LICENSE", "Take it.\n")
    write("bytes/library/COPYING", "Take it.")
    text = PlatformGem::ThirdPartyLicenses.new(metadata("carat-edge" => %w[hyper bytes])).to_s

    assert_includes text, "bytes 1.0.0, hyper 1.0.0\n\nTake it.\n"
    assert_equal 1, text.scan("Take it.").size
  end

  private

  # What cargo prints, for crates and the names (and kinds) of those that they need.
  def metadata(needs)
    nodes = needs.map { |name, others| { "id" => name, "deps" => others.map { |other| dependency(other) } } }
    names = [*needs.keys, *needs.values.flatten.map { |other| other[/\A\w+/] }].uniq
    nodes.concat((names - needs.keys).map { |name| { "id" => name, "deps" => [] } })
    { "packages" => names.map { |name| package(name) }, "resolve" => { "nodes" => nodes } }
  end

  def dependency(words)
    name, kind = words.split(":")
    { "pkg" => name, "dep_kinds" => [{ "kind" => kind }] }
  end

  def package(name)
    { "id" => name, "name" => name, "version" => "1.0.0", "license" => "MIT",
      "manifest_path" => path("#{name}/Cargo.toml"), "source" => ("registry" unless name.start_with?("carat-")),
      "targets" => [{ "kind" => [name == "macro" ? "proc-macro" : "lib"] }] }
  end
end
