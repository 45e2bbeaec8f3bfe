# frozen_string_literal: true

require "test_helper"

class OldestRustTest < Minitest::Test
  ROOT = File.expand_path("../../..", __dir__)

  def test_both_workspaces_name_the_same_oldest_rust
    versions = ["Cargo.toml", "bench/Cargo.toml"].map do |manifest|
      File.read(File.join(ROOT, manifest))[/^rust-version = "(.+)"$/, 1]
    end

    assert_equal 1, versions.compact.uniq.size
    assert_equal 2, versions.compact.size
  end
end
