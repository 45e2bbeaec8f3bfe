# frozen_string_literal: true

require "open3"

module PlatformGem
  # Why there is no gem.
  class Refusal < StandardError
  end

  # The oldest glibc with which a compiled file runs, by the versions of the symbols that it imports.
  module GlibcNeed
    # What Debian 12 has.
    DEBIAN = Gem::Version.new("2.36")

    module_function

    # Returns a Gem::Version, or nil for a file that is not linked with glibc. readelf reads files for any processor.
    def of(path)
      output, status = Open3.capture2e({ "LC_ALL" => "C" }, "readelf", "--version-info", "--wide", path)
      raise Refusal, "readelf cannot read #{path}: #{output}" unless status.success?

      output.scan(/Name: GLIBC_([\d.]+)/).map { |(version)| Gem::Version.new(version) }.max
    end
  end
end
