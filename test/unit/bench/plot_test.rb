# frozen_string_literal: true

require "minitest/autorun"
require "open3"
require "tmpdir"

# The picture of the README. It takes Python's Matplotlib, which building and testing Carat do not.
class BenchPlotTest < Minitest::Test
  ROOT = File.expand_path("../../..", __dir__)
  PLOT = File.join(ROOT, "bench/plot")
  RESULTS = %w[weight uploads].map { |name| File.join(ROOT, "docs/images/#{name}.json") }.freeze

  def setup
    _, status = Open3.capture2e("python3", "-c", "import matplotlib")
    skip "Matplotlib is not installed" unless status.success?
  rescue Errno::ENOENT
    skip "Python is not installed"
  end

  def test_the_same_results_give_the_same_pictures
    first, second = Array.new(2) { draw }

    assert_equal first, second
    refute_equal(*first)
    assert(first.all? { |svg| svg.include?("Carat 176 MB") && svg.include?("Puma 525 MB") })
  end

  private

  # The light picture and the dark one.
  def draw
    Dir.mktmpdir do |directory|
      output, status = Open3.capture2e(PLOT, *RESULTS, File.join(directory, "memory"))
      assert_predicate status, :success?, output
      %w[light dark].map { |theme| File.read(File.join(directory, "memory-#{theme}.svg")) }
    end
  end
end
