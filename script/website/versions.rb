# frozen_string_literal: true

require "json"

module Website
  # The versions that the site has: of each minor version of Carat the last release, and what is not released.
  class Versions
    # name: the folder; title: its words in the selector; tag: nil for this checkout.
    Version = Struct.new(:name, :title, :tag, keyword_init: true)

    # What is not released. Also the branch to which its links lead.
    UNRELEASED = "main"
    LATEST = "latest"
    TAG = /\Av(?<minor>\d+\.\d+)\.(?<patch>\d+)\z/
    private_constant :TAG

    # `tags` are the names of all tags, in any order.
    def initialize(tags)
      @tags = tags
    end

    # Returns Versions, the newest release first.
    def list
      @list ||= releases << Version.new(name: UNRELEASED, title: "#{UNRELEASED} (not released)")
    end

    # Returns the Version that a reader gets who names none: the newest release, or else what is not released.
    def latest
      list.first
    end

    # Returns the text of versions.json in the form of mike, which the selector of mkdocs-material reads.
    def to_json(*)
      rows = list.map { |version| { version: version.name, title: version.title, aliases: aliases(version) } }
      JSON.pretty_generate(rows) << "\n"
    end

    private

    def releases
      by_minor = @tags.filter_map { |tag| TAG.match(tag) }.group_by { |match| match[:minor] }
      newest_first = by_minor.sort_by { |minor, _| minor.split(".").map(&:to_i) }.reverse
      newest_first.map do |minor, matches|
        tag = matches.max_by { |match| match[:patch].to_i }.string
        Version.new(name: minor, title: tag.delete_prefix("v"), tag:)
      end
    end

    def aliases(version)
      version == latest ? [LATEST] : []
    end
  end
end
