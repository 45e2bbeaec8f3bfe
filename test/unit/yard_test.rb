# frozen_string_literal: true

require "minitest/autorun"
require "open3"

# Whether YARD finds documentation for every public object of the library.
class YardTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)

  def test_every_public_object_is_documented
    words = %w[yard stats --list-undoc --no-save --no-cache --no-progress lib lab/lib]
    out, status = Open3.capture2e(*words, chdir: ROOT)

    assert_predicate status, :success?, out
    assert_match(/100\.00% documented/, out)
  rescue Errno::ENOENT
    skip "yard is not installed"
  end
end
