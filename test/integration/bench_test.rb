# frozen_string_literal: true

require "test_helper"
require "open3"

# The benchmark runs, and its tables have figures. What they mean, only a long run on a quiet machine says.
class BenchTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  COMMAND = %w[bench/run --quick --servers carat --cases hello,idle,tinypost].freeze

  def setup
    skip "wrk is not installed" unless system("which wrk", out: File::NULL)
  end

  def test_a_short_round_has_a_table_for_each_case
    output, errors, status = Open3.capture3(RbConfig.ruby, *COMMAND, chdir: ROOT)

    assert_predicate status, :success?, errors
    assert_match(/^### Hello world.*\n\n.*\n.*\n\| carat +\| +\d[\d ]* \|.*\| +0 \|$/, output)
    assert_match(%r{^### Idle keep-alive.*\n\n.*\n.*\n\| carat +\| +500 \|.*\| +500 \(>= 500\) \|$}, output)
    assert_match(/^### Chunked POSTs.*\n\n.*\n.*\n\| carat +\| +\d[\d ]* \| +\d[\d ]* \|.*\| +0 \|$/, output)
  end

  def test_a_case_that_is_not_there_is_named
    _, errors, status = Open3.capture3(RbConfig.ruby, "bench/run", "--cases", "nonesuch", chdir: ROOT)

    assert_equal 1, status.exitstatus
    assert_includes errors, "nonesuch"
  end
end
