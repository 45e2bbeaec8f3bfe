# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../script/platform_gem/builds"
require_relative "../../../support/workplace"

class PlatformGemBuildsTest < Minitest::Test
  include Support::Workplace

  def setup
    super
    write("crates/carat-edge/src/main.rs", "fn main() {}")
    @digest = PlatformGem::SourceDigest.new(@workplace).to_s
  end

  def test_builds_are_in_the_order_of_the_rubies
    %w[3.10.0-x86_64-linux-gnu 3.4.0-x86_64-linux 3.3.0-x86_64-linux-gnu].each { |name| build(name) }

    assert_equal %w[3.3.0 3.4.0 3.10.0], builds.current.map(&:abi)
  end

  def test_parts_of_other_sources_are_left_out
    build("3.1.0-x86_64-linux-gnu")
    build("3.3.0-x86_64-linux-gnu", source: "1234")
    build("3.4.0-x86_64-linux-gnu", source: nil)

    assert_equal %w[3.1.0], builds.current.map(&:abi)
    assert_equal %w[3.3.0 3.4.0], builds.outdated.map(&:abi)
  end

  def test_changed_source_makes_each_build_outdated
    build("3.1.0-x86_64-linux-gnu")
    write("crates/carat-edge/src/main.rs", "fn main() { run() }")

    assert_empty builds.current
  end

  def test_builds_for_another_processor_or_library_are_no_parts
    %w[3.1.0-aarch64-linux-gnu 3.1.0-x86_64-linux-musl 3.1.0-x86_64-darwin23].each { |name| build(name) }

    assert_empty builds.current + builds.outdated
    assert_equal %w[3.1.0], builds(cpu: "aarch64").current.map(&:abi)
  end

  private

  def build(name, source: @digest)
    write("build/#{name}/carat/native.so", "")
    write("build/#{name}/source", "#{source}\n") if source
  end

  def builds(cpu: "x86_64")
    PlatformGem::Builds.new(root: @workplace, cpu: cpu)
  end
end
