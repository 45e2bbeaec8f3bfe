# frozen_string_literal: true

require "rbconfig"

module Carat
  # The paths of the compiled parts: `carat/native.so` and, beside it, `carat/carat-edge` and `carat/malloc.so`. A
  # checkout has them in build/<Ruby's ABI>, an installed gem in a directory of the load path.
  module NativePath
    # The directory of the checkout or the gem.
    ROOT = File.expand_path("../..", __dir__)

    # Which Ruby the parts are compiled for, such as `3.3.0-x86_64-linux-gnu`.
    ABI = RbConfig::CONFIG.values_at("ruby_version", "arch").join("-").freeze

    # The parts of a checkout.
    BUILD = File.join(ROOT, "build", ABI)

    # The edge program, in a directory of the load path.
    EDGE = "carat/carat-edge"
    MALLOC = "carat/malloc.so"
    private_constant :MALLOC

    # Every part.
    PARTS = ["carat/native.so", EDGE, MALLOC].freeze

    module_function

    # Puts the build directory of a checkout first on the load path, if there is one.
    def add
      $LOAD_PATH.unshift(BUILD) if File.directory?(BUILD) && !$LOAD_PATH.include?(BUILD)
    end

    # Returns the directory of the load path that holds all parts, or nil.
    def directory
      $LOAD_PATH.map(&:to_s).find { |path| PARTS.all? { |part| File.file?(File.join(path, part)) } }
    end

    # Returns the absolute path of the edge program, or nil.
    def edge
      part(EDGE)
    end

    # Returns the absolute path of the allocator that is preloaded into Ruby, or nil.
    def malloc
      part(MALLOC)
    end

    # Returns what to do when a part is missing.
    def remedy
      return "run script/setup in #{ROOT}" if File.exist?(File.join(ROOT, "script", "setup"))

      "install the gem again: gem pristine carat --extensions"
    end

    def part(name)
      found = directory
      File.expand_path(name, found) if found
    end

    add
    private_class_method :part
  end
end
