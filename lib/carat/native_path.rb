# frozen_string_literal: true

require "rbconfig"

module Carat
  # The paths of the compiled files: `carat/native.so`, `carat/carat-edge`, and `carat/malloc.so`. A checkout has them
  # in build/<Ruby's ABI>, and a gem that was compiled during installation in a directory of the load path. A platform
  # gem has the extension for each Ruby in native/gnu/<Ruby's version>, and the two files that all Rubies share in
  # native/gnu; the platform gem for musl has native/musl instead.
  module NativePath
    # The directory of the checkout or the gem.
    ROOT = File.expand_path("../..", __dir__)

    # Ruby's name of the operating system and its C library, such as `linux-gnu`, `linux-musl`, or `darwin23`.
    SYSTEM = RbConfig::CONFIG.fetch("host_os")

    # The Ruby for which the files are compiled, such as `3.3.0-x86_64-linux-gnu`.
    ABI = RbConfig::CONFIG.values_at("ruby_version", "arch").join("-").freeze

    # The directory of the compiled files in a checkout.
    BUILD = File.join(ROOT, "build", ABI)

    # The directory of the compiled files in a platform gem.
    PACKED = File.join(ROOT, "native")
    # The directory for the C library of this machine.
    PLATFORM = File.join(PACKED, SYSTEM.include?("musl") ? "musl" : "gnu")
    # The directory for this Ruby.
    PLATFORM_BUILD = File.join(PLATFORM, RbConfig::CONFIG.fetch("ruby_version"))
    # The digest of the sources that were compiled, as script/setup has left it.
    DIGEST = File.join(BUILD, "digest")
    DIGEST_PROGRAM = File.join(ROOT, "script", "platform_gem", "source_digest.rb")
    # What to do when the gem is for another C library: RubyGems before 3.3.22 ignores the library when it chooses a
    # gem.
    FOREIGN = "its parts are for another C library than this machine's. Run gem update --system, and install carat " \
              "again: RubyGems 3.3.22 or later takes the gem for this one. Or compile it: gem install carat " \
              "--platform ruby"
    private_constant :PACKED, :PLATFORM, :PLATFORM_BUILD, :DIGEST, :DIGEST_PROGRAM, :FOREIGN

    # The path of the edge program below a directory of the load path.
    EDGE = "carat/carat-edge"
    # The path of the allocator below that directory.
    MALLOC = "carat/malloc.so"
    # The path of the extension below that directory.
    EXTENSION = "carat/native.so"
    private_constant :MALLOC, :EXTENSION

    # The paths of all compiled files.
    PARTS = [EXTENSION, EDGE, MALLOC].freeze

    module_function

    # Puts the build directory of a checkout or a platform gem first on the load path, if there is one.
    def add
      build = [BUILD, PLATFORM_BUILD].find { |path| File.directory?(path) }
      $LOAD_PATH.unshift(build) if build && !$LOAD_PATH.include?(build)
    end

    # Returns the directory of the load path in which, or above which, all compiled files are; or nil.
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

    # Returns a sentence if the sources of a checkout have changed since they were compiled, or nil.
    def stale(digest = DIGEST)
      return unless directory == BUILD && File.file?(digest) && File.file?(DIGEST_PROGRAM)

      require DIGEST_PROGRAM
      "built from older sources: #{remedy}" if File.read(digest).strip != PlatformGem::SourceDigest.new.to_s
    end

    # Returns a sentence that Carat does not serve on this operating system, and what to do; nil on Linux.
    def elsewhere
      return if SYSTEM.include?("linux")

      "serves on Linux, and this is #{SYSTEM}: start Puma here for development, or Carat in a container " \
        "(docs/installation.md, \"macOS, BSD, and Windows\")"
    end

    # Returns a sentence about compiled files that are missing.
    def missing
      elsewhere || "not built for Ruby #{ABI}: #{remedy}"
    end

    # Returns what to do when a compiled file is missing.
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

    # Returns the path of a compiled file, or nil. `directory` has the extension; the directory above it may have the
    # other files.
    def locate(name, directory)
      places = name == EXTENSION ? [directory] : [directory, File.dirname(directory)]
      places.map { |place| File.join(place, name) }.find { |path| File.file?(path) }
    end

    add
    private_class_method :locate, :part
  end
end
