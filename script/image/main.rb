# frozen_string_literal: true

require "fileutils"
require_relative "gem_directory"
require_relative "trial"

# See script/try_image.
module Image
  APPLICATION = "srv/app"
  FILES = { "Gemfile" => "source \"https://rubygems.org\"\ngem \"carat\"\ngem \"rack\"\n",
            "config.ru" => Trial::APP, "tmp/.keep" => "" }.freeze
  # What the image `ruby` sets.
  VARIABLES = { "PATH" => "/usr/local/bundle/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "LANG" => "C.UTF-8" }.freeze
  # With a platform gem, Carat needs no compiler.
  PLAIN = "BUILD_PACKAGES=ca-certificates"
  # How cargo and others reach their mirrors, and profiles of cargo.
  OUTSIDE = /\A(?:CARGO_(?:NET|HTTP|REGISTRIES|SOURCE|PROFILE)_\w+|https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY)\z/
  # The tags of the image `ruby` and of the one that is tried.
  RUBY = "ruby:trial-slim-trixie"
  TRIAL = "carat-trial"

  def self.write_application(directory)
    FILES.each do |path, text|
      FileUtils.mkdir_p(File.dirname(File.join(directory, path)))
      File.write(File.join(directory, path), text)
    end
  end

  # Copies the root, and adds the directory of gems and the application, which is the context of the image.
  def self.prepare(root, base, gem)
    system("cp", "-a", "--reflink=auto", root, base, exception: true)
    write_application(File.join(base, APPLICATION))
    gems = GemDirectory.new(base)
    gems.fill(gem)
    gems.lock("/#{APPLICATION}")
  end

  # Makes the image `ruby` of the root.
  def self.import(base)
    variables = VARIABLES.merge(ENV.select { |name, _| OUTSIDE.match?(name) })
    changes = variables.flat_map { |name, value| ["--change", "ENV #{name}=\"#{value}\""] }
    IO.popen(["tar", "--create", "--directory", base, "."], "rb") do |archive|
      system("docker", "import", *changes, "-", RUBY, in: archive, exception: true)
    end
  end

  def self.run(root, work, gem)
    base = File.join(work, "base")
    prepare(root, base, gem)
    import(base)
    arguments = ["RUBY_VERSION=trial", *(PLAIN if gem)].flat_map { |argument| ["--build-arg", argument] }
    system("docker", "build", "--network", "host", "--tag", TRIAL, "--file", "deploy/docker/Dockerfile", *arguments,
           File.join(base, APPLICATION), exception: true)
    Trial.new(TRIAL).run
  end
end

root, work, gem = ARGV
$stdout.sync = true
Image.run(root, work, gem.to_s.empty? ? nil : File.expand_path(gem))
