# frozen_string_literal: true

require "fileutils"
require "tmpdir"
require_relative "builder"
require_relative "gem_directory"
require_relative "trial"

# See script/try_image.
module Image
  DOCKERFILE = "deploy/docker/Dockerfile"
  APPLICATION = "srv/app"
  FILES = { "Gemfile" => "source \"https://rubygems.org\"\ngem \"carat\"\ngem \"rack\"\n",
            "config.ru" => Trial::APP, "tmp/.keep" => "" }.freeze
  # With a platform gem, Carat needs no compiler.
  PLAIN = { "BUILD_PACKAGES" => "ca-certificates" }.freeze
  # How cargo and others reach their mirrors, and profiles of cargo.
  OUTSIDE = /\A(?:CARGO_(?:NET|HTTP|REGISTRIES|SOURCE|PROFILE)_\w+|https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY)\z/

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

  def self.run(root, gem)
    Dir.mktmpdir("carat-image-", "/var/tmp") do |directory|
      base = File.join(directory, "base")
      prepare(root, base, gem)
      builder = Builder.new(directory, base:, context: File.join(base, APPLICATION), arguments: gem ? PLAIN : {},
                                       outside: ENV.select { |name, _| OUTSIDE.match?(name) })
      stage = builder.build(Dockerfile.new(File.read(DOCKERFILE)))
      Trial.new(stage, builder.command, File.join(directory, "log")).run
    end
  end
end

root, gem = ARGV
$stdout.sync = true
Image.run(root, gem.to_s.empty? ? nil : File.expand_path(gem))
