# frozen_string_literal: true

require "minitest/autorun"

# The headings of docs/known-issues.md and docs/messages.md, and the bodies in its table of responses, are what users
# search for: the code says so, word for word.
class DocsKnownIssuesTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  # Headings that begin with the name of another program are its words.
  HEADING = /^### (?=`)(.+)$/
  # The second cell of a row that begins with a status.
  ROW = /^\| \d{3}(?:, \d{3})? \| ([^|]+) \|/
  SPAN = /``(.+?)``(?!`)|`([^`]+)`/
  VARIABLE = /[…:;,]+/
  # A shorter piece would be found anywhere.
  SHORTEST = 8
  NUMBER_OF_MESSAGES = 90

  def test_the_code_has_each_message
    missing = pieces.reject { |piece| source.include?(piece) }

    assert_operator spans.size, :>=, NUMBER_OF_MESSAGES
    assert_empty missing
  end

  private

  def spans
    (pages.scan(HEADING) + pages.scan(ROW)).flatten.flat_map { |text| text.scan(SPAN).map(&:compact).flatten }
  end

  # What each message has between its variable parts; others than its author may have put names and hints around it.
  def pieces
    spans.flat_map { |span| span.split(VARIABLE) }.map(&:strip).select { |piece| piece.size >= SHORTEST }
  end

  def pages
    %w[docs/known-issues.md docs/messages.md].map { |page| File.read(File.join(ROOT, page)) }.join
  end

  # The text of all sources, with literals of several lines in one.
  def source
    @source ||= Dir.glob("{lib,ext,exe,crates}/**/*.{rb,rs}", base: ROOT).map do |path|
      File.read(File.join(ROOT, path)).gsub(/" \\\n\s*"|\\\n\s*/, "")
    end.join("\n")
  end
end
