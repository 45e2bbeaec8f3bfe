# frozen_string_literal: true

require "rbconfig"

module Carat
  # The paths of the compiled parts: `carat/native.so`, `carat/carat-edge`, and `carat/malloc.so`. A checkout has them
  # in build/<Ruby's ABI>, a gem that was compiled during installation in a directory of the load path. A platform gem
  # has the extension for each Ruby in native/gnu/<Ruby's version>, and the two parts that all Rubies share in
  # native/gnu; one for musl has native/musl.
  module NativePath
    # The directory of the checkout or the gem.
    ROOT = File.expand_path("../..", __dir__)

    # What Ruby calls the operating system and its C library, such as `linux-gnu`, `linux-musl`, or `darwin23`.
    SYSTEM = RbConfig::CONFIG.fetch("host_os")

    # Which Ruby the parts are compiled for, such as `3.3.0-x86_64-linux-gnu`.
    ABI = RbConfig::CONFIG.values_at("ruby_version", "arch").join("-").freeze

    # The parts of a checkout.
    BUILD = File.join(ROOT, "build", ABI)

    # The compiled parts of a platform gem, which is for one C library.
    PACKED = File.join(ROOT, "native")
    PLATFORM = File.join(PACKED, SYSTEM.include?("musl") ? "musl" : "gnu")
    PLATFORM_BUILD = File.join(PLATFORM, RbConfig::CONFIG.fetch("ruby_version"))
    # script/setup leaves the digest of the sources that it has compiled.
    DIGEST = File.join(BUILD, "digest")
    DIGEST_PROGRAM = File.join(ROOT, "script", "platform_gem", "source_digest.rb")
    # RubyGems before 3.3.22 takes the platform gem for either C library.
    FOREIGN = "its parts are for another C library than this machine's. Run gem update --system, and install carat " \
              "again: RubyGems 3.3.22 or later takes the gem for this one. Or compile it: gem install carat " \
              "--platform ruby"
    private_constant :PACKED, :PLATFORM, :PLATFORM_BUILD, :DIGEST, :DIGEST_PROGRAM, :FOREIGN

    # The edge program, in a directory of the load path.
    EDGE = "carat/carat-edge"
    MALLOC = "carat/malloc.so"
    EXTENSION = "carat/native.so"
    private_constant :MALLOC, :EXTENSION

    # Every part.
    PARTS = [EXTENSION, EDGE, MALLOC].freeze

    module_function

    # Puts the build directory of a checkout or a platform gem first on the load path, if there is one.
    def add
      build = [BUILD, PLATFORM_BUILD].find { |path| File.directory?(path) }
      $LOAD_PATH.unshift(build) if build && !$LOAD_PATH.include?(build)
    end

    # Returns the directory of the load path that holds the extension and has all parts, or nil.
    def directory
      $LOAD_PATH.map(&:to_s).find { |path| PARTS.all? { |part| locate(part, path) } }
    end

    # Returns the absolute path of the edge program, or nil.
    def edge
      part(EDGE)
    end

    # Returns the absolute path of the allocator that is preloaded into Ruby, or nil.
    def malloc
      part(MALLOC)
    end

    # Returns a sentence when the sources of a checkout have changed since it was built, or nil.
    def stale(digest = DIGEST)
      return unless directory == BUILD && File.file?(digest) && File.file?(DIGEST_PROGRAM)

      require DIGEST_PROGRAM
      "built from older sources: #{remedy}" if File.read(digest).strip != PlatformGem::SourceDigest.new.to_s
    end

    # Returns why there are no parts for this system, where Carat does not serve, and what to do; nil on Linux.
    def elsewhere
      return if SYSTEM.include?("linux")

      "serves on Linux, and this is #{SYSTEM}: start Puma here for development, or Carat in a container " \
        "(docs/installation.md, \"macOS, BSD, and Windows\")"
    end

    # Returns a sentence about parts that are missing.
    def missing
      elsewhere || "not built for Ruby #{ABI}: #{remedy}"
    end

    # Returns what to do when a part is missing.
    def remedy
      return "run script/setup in #{ROOT}" if File.exist?(File.join(ROOT, "script", "setup"))
      return "install the gem that compiles: gem install carat --platform ruby" if File.directory?(PLATFORM)
      return FOREIGN if File.directory?(PACKED)

      "install the gem again: gem pristine carat --extensions"
    end

    def part(name)
      found = directory
      File.expand_path(locate(name, found)) if found
    end

    # Returns the path of the part that belongs to the extension in the directory, or nil.
    def locate(name, directory)
      places = name == EXTENSION ? [directory] : [directory, File.dirname(directory)]
      places.map { |place| File.join(place, name) }.find { |path| File.file?(path) }
    end

    add
    private_class_method :locate, :part
  end
end
