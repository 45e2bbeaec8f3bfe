# frozen_string_literal: true

require_relative "glibc_need"
require_relative "source_digest"

module PlatformGem
  # Parts that were compiled for one Ruby: `abi` is Ruby's `ruby_version`, such as 3.3.0.
  Build = Struct.new(:directory, :abi, :cpu) do
    def part(name)
      File.join(directory, "carat", name)
    end

    # The digest of the sources that script/setup compiled, from a file that it writes at its end; empty without one.
    def source(mark)
      path = File.join(directory, mark)
      File.file?(path) ? File.read(path).chomp : ""
    end
  end

  # What script/setup has compiled into build/, on one or more releases of Debian.
  class Builds
    SHARED = %w[carat-edge malloc.so].freeze
    EXTENSIONS = %w[native.so].freeze
    NAME = /\A(?<abi>\d+\.\d+\.\d+)-(?<cpu>\w+)-linux(-(?<library>gnu|musl))?\z/

    # The files with which script/setup marks full builds, and all builds.
    FULL = "source"
    ANY = "digest"

    # `cpu` is that of a RubyGems platform, `library` the C library, `gnu` or `musl`, and `mark` says which builds there
    # are: only full ones, or others too.
    def initialize(root: SourceDigest::ROOT, cpu: Gem::Platform.local.cpu, library: "gnu", mark: FULL)
      @root = root
      @cpu = cpu
      @library = library
      @mark = mark
    end

    # Returns the current builds, in the order of the Rubies.
    def current
      @current ||= all.select { |build| build.source(@mark) == digest }
    end

    # Returns those that were compiled from other sources.
    def outdated
      all - current
    end

    # Returns the path of each file of the gem's directory `native`.
    def parts
      extensions = current.product(EXTENSIONS).to_h do |build, name|
        ["#{build.abi}/carat/#{name}", build.part(name)]
      end
      SHARED.to_h { |name| ["carat/#{name}", oldest_glibc(name)] }.merge(extensions)
    end

    private

    def all
      @all ||= Dir.children(File.join(@root, "build")).filter_map { |name| build(name) }
                  .sort_by { |build| Gem::Version.new(build.abi) }
    end

    def build(name)
      match = NAME.match(name)
      return unless match && match[:cpu] == @cpu && (match[:library] || "gnu") == @library

      Build.new(File.join(@root, "build", name), match[:abi], match[:cpu])
    end

    def digest
      @digest ||= SourceDigest.new(@root).to_s
    end

    # The edge of Debian 13 does not run on Debian 12. Those for musl are alike.
    def oldest_glibc(name)
      current.map { |build| build.part(name) }.min_by { |path| GlibcNeed.of(path) || Gem::Version.new(0) }
    end
  end
end
