# frozen_string_literal: true

require "fileutils"
require "open3"
require_relative "versions"

module Website
  # A folder with all versions of the site, each in its own, and what its root needs. The `script/site` of a version
  # builds it, in a copy of its tag, with the tools that it names.
  class Tree
    # The selector of the theme appears for this value of `extra.version.provider`.
    PROVIDER = "mike"
    # Pages of the root are those of the latest version, whose links begin with the address of the site.
    SHARED = %w[404.html llms.txt].freeze
    BUILT = "target/site/html"

    # `address` is that of the site, with a slash at its end. A copy of a tag is a folder in `copies`.
    def initialize(folder, address, versions, copies: "target/site/tags")
      @folder = folder
      @address = address
      @versions = versions
      @copies = copies
    end

    # Raises when a version cannot be built.
    def build
      FileUtils.rm_rf([@folder, @copies])
      FileUtils.mkdir_p(@folder)
      @versions.list.each { |version| add(version) }
      File.symlink(@versions.latest.name, File.join(@folder, Versions::LATEST))
      SHARED.each { |name| FileUtils.cp(File.join(@folder, Versions::LATEST, name), @folder) }
      File.write(File.join(@folder, "versions.json"), @versions.to_json)
      File.write(File.join(@folder, "index.html"), entrance)
    end

    private

    def add(version)
      checkout = version.tag ? copy(version.tag) : "."
      environment = { "CARAT_SITE" => "#{@address}#{version.name}/", "CARAT_VERSIONS" => PROVIDER,
                      "CARAT_REVISION" => version.tag || Versions::UNRELEASED }
      system(environment, "script/site", chdir: checkout) || raise("site: #{version.name} is not built")
      FileUtils.cp_r(File.join(checkout, BUILT), File.join(@folder, version.name))
    end

    # Returns the folder with the files of a tag.
    def copy(tag)
      folder = File.join(@copies, tag)
      FileUtils.mkdir_p(folder)
      ends = Open3.pipeline(["git", "archive", tag], ["tar", "--extract", "--directory", folder])
      ends.all?(&:success?) ? folder : raise("site: there are no files of #{tag}")
    end

    def entrance
      latest = "#{Versions::LATEST}/"
      <<~HTML
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <title>Carat</title>
        <meta http-equiv="refresh" content="0; url=#{latest}">
        <link rel="canonical" href="#{latest}">
        <p><a href="#{latest}">Carat</a></p>
      HTML
    end
  end
end
