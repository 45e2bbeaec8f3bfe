# frozen_string_literal: true

require "fileutils"
require_relative "base"
require_relative "trial"

# See script/try_image.
module Image
  FILES = { "Gemfile" => "source \"https://rubygems.org\"\ngem \"carat\"\ngem \"rack\"\n",
            "config.ru" => Trial::APP, "tmp/.keep" => "" }.freeze
  # With a platform gem, Carat needs no compiler.
  PLAIN = "BUILD_PACKAGES=ca-certificates"
  # The tags of the image `ruby` and of the one that is tried.
  RUBY = "ruby:trial-slim-trixie"
  TRIAL = "carat-trial"

  def self.write_application(directory)
    FILES.each do |path, text|
      FileUtils.mkdir_p(File.dirname(File.join(directory, path)))
      File.write(File.join(directory, path), text)
    end
  end

  def self.run(root, work, gem)
    base = Base.new(root, File.join(work, "base"))
    write_application(base.application)
    base.add_gems(gem)
    base.import(RUBY)
    arguments = ["RUBY_VERSION=trial", *(PLAIN if gem)].flat_map { |argument| ["--build-arg", argument] }
    system("docker", "build", "--network", "host", "--tag", TRIAL, "--file", "deploy/docker/Dockerfile", *arguments,
           base.application, exception: true)
    Trial.new(TRIAL).run
  end
end

root, work, gem = ARGV
$stdout.sync = true
Image.run(root, work, gem.to_s.empty? ? nil : File.expand_path(gem))
