# frozen_string_literal: true

require "digest"

module PlatformGem
  # The digest of all files from which the parts are compiled. script/setup writes it beside them, so that parts of
  # different sources, which could not talk to each other, never get into one gem.
  class SourceDigest
    ROOT = File.expand_path("../..", __dir__)
    PATTERNS = ["crates/**/*.{map,rs,toml}", "Cargo.{toml,lock}", ".cargo/config.toml", "ext/carat/*.rb"].freeze

    def initialize(root = ROOT)
      @root = root
    end

    def to_s
      files = Dir.glob(PATTERNS, base: @root).sort
      Digest::SHA256.hexdigest(files.map { |path| "#{path} #{digest(path)}\n" }.join)
    end

    private

    def digest(path)
      Digest::SHA256.file(File.join(@root, path)).hexdigest
    end
  end

  puts SourceDigest.new if $PROGRAM_NAME == __FILE__
end
