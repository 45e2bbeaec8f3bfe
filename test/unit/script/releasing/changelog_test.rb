# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../script/releasing/changelog"

class ReleasingChangelogTest < Minitest::Test
  HEAD = "# Changelog\n\n"

  def test_what_is_unreleased_becomes_a_section_with_a_date
    changelog = cut("## [Unreleased]\n\n### Added\n\n- b\n\n## [0.1.0] - 2026-01-01\n\n- a\n", "0.2.0")

    assert_equal "#{HEAD}## [Unreleased]\n\n## [0.2.0] - 2026-02-03\n\n### Added\n\n- b\n\n" \
                 "## [0.1.0] - 2026-01-01\n\n- a\n", changelog.text
    assert_equal "2026-02-03", changelog.date("0.2.0")
    assert_empty changelog.unreleased
  end

  def test_section_that_nobody_has_published_gets_what_has_come_since_and_a_new_date
    changelog = cut("## [Unreleased]\n\n- b\n\n## [0.1.0] - 2026-01-01\n\n- a\n", "0.1.0")

    assert_equal "#{HEAD}## [Unreleased]\n\n## [0.1.0] - 2026-02-03\n\n- a\n\n- b\n", changelog.text
    assert_equal "- a\n\n- b", changelog.section("0.1.0").strip
  end

  def test_section_is_at_most_a_page
    error = assert_raises(Releasing::Refusal) { cut("## [Unreleased]\n\n#{"- a\n" * 101}", "0.1.0") }

    assert_equal "the changelog has 101 lines about 0.1.0: say what users read in 100", error.message
  end

  def test_release_without_a_word_is_refused
    error = assert_raises(Releasing::Refusal) { cut("## [Unreleased]\n\n## [0.1.0] - 2026-01-01\n\n- a\n", "0.2.0") }

    assert_equal "the changelog says nothing of 0.2.0", error.message
  end

  def test_text_without_the_section_for_what_is_unreleased_is_refused
    assert_raises(Releasing::Refusal) { cut("## [0.1.0] - 2026-01-01\n\n- a\n", "0.2.0") }
  end

  private

  def cut(text, version)
    Releasing::Changelog.new(HEAD + text).cut(version, "2026-02-03")
  end
end
