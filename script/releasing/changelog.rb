# frozen_string_literal: true

module Releasing
  # Why there is no release.
  class Refusal < StandardError
  end

  # The text of a changelog in the form of Keep a Changelog.
  class Changelog
    UNRELEASED = "## [Unreleased]\n"
    NEXT_SECTION = /^(?=## \[)/
    # A section is a page that a user reads.
    LINES_LIMIT = 100

    attr_reader :text

    def initialize(text)
      @text = text
      @head, @unreleased, @sections = split
    end

    # Returns the Changelog in which what is unreleased belongs to `version`. A section that the version has already
    # gets the new date and what has come since. Raises Refusal.
    def cut(version, date)
      body = [section(version), @unreleased].map(&:strip).reject(&:empty?).join("\n\n")
      refuse(version, body)
      others = @sections.reject { |section| version_of(section) == version }
      text = "#{@head}#{UNRELEASED}\n## [#{version}] - #{date}\n\n#{body}\n\n#{others.join}"
      self.class.new("#{text.rstrip}\n")
    end

    # Returns what the changelog says of a version, without the heading; empty when there is no such section.
    def section(version)
      found = @sections.find { |section| version_of(section) == version }
      found.to_s.lines.drop(1).join
    end

    # Returns the date of a version as a String, or nil.
    def date(version)
      @text[/^## \[#{Regexp.escape(version)}\] - (\d{4}-\d{2}-\d{2})$/, 1]
    end

    # Returns what no version has, without the heading.
    def unreleased
      @unreleased.strip
    end

    private

    def split
      head, *sections = @text.split(NEXT_SECTION)
      unless sections.first&.start_with?(UNRELEASED)
        raise Refusal, "the changelog does not begin with #{UNRELEASED.chomp}"
      end

      [head, sections.first.delete_prefix(UNRELEASED), sections.drop(1)]
    end

    def version_of(section)
      section[/\A## \[([^\]]+)\]/, 1]
    end

    def refuse(version, body)
      raise Refusal, "the changelog says nothing of #{version}" if body.empty?

      lines = body.lines.size
      return if lines <= LINES_LIMIT

      raise Refusal, "the changelog has #{lines} lines about #{version}: say what users read in #{LINES_LIMIT}"
    end
  end
end
