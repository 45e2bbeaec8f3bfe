# frozen_string_literal: true

require "json"
require "open3"
require "set"

module PlatformGem
  # The licenses of the crates that are compiled into the edge, the extension and the allocator.
  class ThirdPartyLicenses
    ROOTS = %w[carat-edge carat-malloc carat-native].freeze
    NAMES = "{LICENSE,LICENCE,COPYING,COPYRIGHT,NOTICE,UNLICENSE}*"
    HEAD = <<~TEXT
      Carat's compiled parts contain the Rust standard library (MIT OR Apache-2.0) and these crates. The texts of their
      licenses follow; crates with the same text share it.
    TEXT

    # `metadata` is what `cargo metadata` prints, parsed.
    def initialize(metadata)
      @packages = metadata.fetch("packages").to_h { |package| [package.fetch("id"), package] }
      @nodes = metadata.fetch("resolve").fetch("nodes").to_h { |node| [node.fetch("id"), node] }
    end

    # Asks cargo; `target` is a target of Rust.
    def self.of(root, target)
      output, status = Open3.capture2("cargo", "metadata", "--format-version", "1", "--locked",
                                      "--filter-platform", target, "--manifest-path", File.join(root, "Cargo.toml"))
      raise "cargo metadata failed" unless status.success?

      new(JSON.parse(output))
    end

    # Returns the packages that are compiled in, without Carat's own, by name and version.
    def packages
      @packages.values_at(*reached).select { |package| package.fetch("source") }
               .sort_by { |package| package.values_at("name", "version") }
    end

    def to_s
      list = packages.map { |package| "* #{label(package)}: #{package.fetch("license")}\n" }.join
      [HEAD, list, *sections].join("\n")
    end

    private

    # The ids of the crates that the roots need at run time.
    def reached
      waiting = @packages.values.select { |package| ROOTS.include?(package.fetch("name")) }.map { |root| root["id"] }
      found = Set.new
      while (id = waiting.pop)
        waiting.concat(dependencies(id)) if found.add?(id)
      end
      found.to_a
    end

    def dependencies(id)
      normal = @nodes.fetch(id).fetch("deps").select do |dependency|
        dependency.fetch("dep_kinds").any? { |kind| kind.fetch("kind").nil? }
      end
      normal.map { |dependency| dependency.fetch("pkg") }.reject { |package| macro?(@packages.fetch(package)) }
    end

    # Procedural macros run in the compiler.
    def macro?(package)
      package.fetch("targets").any? { |target| target.fetch("kind").include?("proc-macro") }
    end

    def sections
      owners = Hash.new { |hash, text| hash[text] = [] }
      packages.each { |package| texts(package).each { |text| owners[text] << label(package) } }
      owners.map { |text, labels| "#{"=" * 80}\n#{labels.uniq.join(", ")}\n\n#{text}\n" }
    end

    # C libraries are one directory below their crate, some two.
    def texts(package)
      directory = File.dirname(package.fetch("manifest_path"))
      files = Dir.glob(["#{NAMES}", "*/#{NAMES}", "*/*/#{NAMES}"], base: directory).sort
      files.map { |name| File.join(directory, name) }.select { |path| File.file?(path) }
           .map { |path| File.read(path, encoding: Encoding::UTF_8).scrub.strip }
    end

    def label(package)
      package.values_at("name", "version").join(" ")
    end
  end
end
