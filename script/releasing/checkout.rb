# frozen_string_literal: true

require "open3"
require_relative "changelog"

module Releasing
  # The files of the checkout that a release changes, and what must be true of them.
  class Checkout
    ROOT = File.expand_path("../..", __dir__)
    VERSIONS = %w[lib/carat/version.rb lab/lib/carat/lab/version.rb].freeze
    VERSION = /^( *VERSION = )"(.+)"$/
    ADDRESS = /^ *REPOSITORY = "(.+)"$/
    # The gem carat-lab has a changelog of its own.
    CHANGELOGS = %w[CHANGELOG.md lab/CHANGELOG.md].freeze

    def initialize(root = ROOT)
      @root = root
    end

    # The version that the sources have. Raises Refusal when the two gems differ.
    def version
      versions = VERSIONS.map { |path| read(path)[VERSION, 2] }.uniq
      raise Refusal, "#{VERSIONS.join(" and ")} have different versions: #{versions.join(", ")}" if versions.size > 1

      versions.first
    end

    # Returns the text that each file would have for a version of `date`, by its path. Raises Refusal.
    def written(version, date)
      raise Refusal, "#{version} is no version" unless Gem::Version.correct?(version)
      raise Refusal, "v#{version} is a tag already" if tag?(version)

      texts = VERSIONS.to_h { |path| [path, read(path).sub(VERSION, %(\\1"#{version}"))] }
      CHANGELOGS.each { |path| texts[path] = cut(path, version, date) }
      texts
    end

    # Writes them.
    def write(version, date)
      written(version, date).each { |path, text| File.write(File.join(@root, path), text) }
    end

    # Returns sentences about what a release with this `tag` lacks; `address` is that of the repository that has the
    # tag, or nil.
    def obstacles(tag: "v#{version}", address: nil)
      [
        ("the tag #{tag} is not v#{version}" if tag != "v#{version}"),
        *CHANGELOGS.flat_map { |path| changelog_obstacles(path) },
        *address_obstacles(address),
        ("files of the checkout have changes that are not committed" unless git("status", "--porcelain").empty?)
      ].compact
    end

    # What the changelog of Carat says about the version.
    def notes
      changelog("CHANGELOG.md").section(version).strip
    end

    private

    def cut(path, version, date)
      changelog(path).cut(version, date).text
    end

    def changelog_obstacles(path)
      changelog = changelog(path)
      [
        ("#{path} has no section with a date for #{version}: script/release --write #{version}" if
          changelog.date(version).nil?),
        ("#{path} has lines that belong to no version: script/release --write" unless changelog.unreleased.empty?)
      ]
    end

    def address_obstacles(address)
      ours = read(VERSIONS.first)[ADDRESS, 1]
      constant = "#{VERSIONS.first}: REPOSITORY is #{ours}"
      return ["#{constant}, which is nobody's: name the real one"] if ours.include?(".example")

      ["#{constant}, and this is #{address}"] if address && address != ours
    end

    def changelog(path)
      Changelog.new(read(path))
    rescue Refusal => e
      raise Refusal, "#{path}: #{e.message}"
    end

    def tag?(version)
      !git("tag", "--list", "v#{version}").empty?
    end

    def git(*words)
      output, status = Open3.capture2("git", "-C", @root, *words)
      raise Refusal, "git #{words.first} failed" unless status.success?

      output
    end

    def read(path)
      File.read(File.join(@root, path))
    end
  end
end
