# frozen_string_literal: true

require "fileutils"
require_relative "base"

# See script/build_image.
module Image
  RUBY = "ruby:4.0-slim-trixie"
  # What gems with a library of Debian compile with and need at run time, where an application has one.
  BUILD_PACKAGES = { "sqlite3" => "libsqlite3-dev", "nokogiri" => "libxml2-dev libxslt1-dev" }.freeze
  RUNTIME_PACKAGES = { "sqlite3" => "libsqlite3-0", "nokogiri" => "libxml2 libxslt1.1" }.freeze
  # With the libraries that a Ruby without a shared one of its own links into extensions.
  COMPILERS = "build-essential git libgmp-dev libyaml-dev pkg-config zlib1g-dev"
  # Without a network, these gems cannot download the libraries that they would compile.
  VARIABLES = { "BUNDLE_BUILD__NOKOGIRI" => "--use-system-libraries",
                "BUNDLE_BUILD__SQLITE3" => "--enable-system-libraries" }.freeze

  # The arguments of the Dockerfile for an application with these gems: versions by name. One with a platform is
  # compiled.
  def self.arguments(gems)
    libraries = gems.keys & BUILD_PACKAGES.keys
    compiling = libraries.reject { |name| gems[name].include?("-") }
    build = compiling.empty? ? "ca-certificates" : [COMPILERS, *BUILD_PACKAGES.values_at(*compiling)].join(" ")
    ["RUBY_VERSION=4.0", "BUILD_PACKAGES=#{build}",
     "RUNTIME_PACKAGES=#{RUNTIME_PACKAGES.values_at(*libraries).join(" ")}"]
  end

  # The versions of the gems in the lock file of an application, by name.
  def self.locked(application)
    File.read(File.join(application, "Gemfile.lock")).scan(/^    ([\w-]+) \((\S+)\)/).to_h
  end

  def self.build(base, tag, archive)
    words = arguments(locked(base.application)).flat_map { |argument| ["--build-arg", argument] }
    system("docker", "build", "--network", "host", "--tag", tag, "--file", "deploy/docker/Dockerfile", *words,
           base.application, exception: true)
    system("docker", "save", "--output", archive, tag, exception: true)
  end

  def self.run(root, work, ruby, *words)
    application, tag, archive, gem, gems = words
    base = Base.new(root, File.join(work, "base"))
    base.add_ruby(ruby)
    FileUtils.cp_r(application, base.application)
    FileUtils.cp("deploy/docker/.dockerignore", base.application)
    base.add_gems(gem, Dir[File.join(gems, "*.gem")])
    base.import(RUBY, VARIABLES)
    build(base, tag, archive)
  end
end

$stdout.sync = true
Image.run(*ARGV) if $PROGRAM_NAME == __FILE__
