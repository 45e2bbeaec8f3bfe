# frozen_string_literal: true

require "fileutils"
require "rubygems/package"
require "tmpdir"
require_relative "builds"
require_relative "ruby_requirement"
require_relative "third_party_licenses"

module PlatformGem
  # The gem for one platform: Carat's Ruby files and compiled parts, and nothing that compiling or testing needs.
  class Package
    FILES = %r{\A(lib/|exe/|share/|README\.md\z|CHANGELOG\.md\z|LICENSE\z)}
    LICENSES = "THIRD-PARTY-LICENSES"
    SIZE_LIMIT = 12_000_000
    DESCRIPTION = <<~TEXT
      Carat serves Rack applications. A Rust process owns the client connections, reads requests, and writes uploads to
      unlinked files; Ruby processes only run the application. This gem contains the compiled parts for Ruby %s; other
      Rubies and platforms get the gem that compiles them.
    TEXT

    # `licenses` is the text of the licenses of the crates that are compiled in; `library`, the C library of the parts,
    # `gnu` or `musl`; `glibc`, the version on which those for `gnu` must run.
    def initialize(builds, licenses:, glibc: GlibcNeed::DEBIAN, cpu: Gem::Platform.local.cpu, library: "gnu")
      @builds = builds
      @library = library
      @licenses = licenses
      @glibc = glibc
      @cpu = cpu
    end

    # Writes the gem into `directory` and returns its path. Raises Refusal when its parts would not run everywhere.
    def write(directory)
      refuse_missing
      refuse_other_library
      FileUtils.mkdir_p(directory)
      path = File.join(File.expand_path(directory), "#{specification.name}-#{specification.version}-#{platform}.gem")
      Dir.mktmpdir("carat-gem-") { |stage| pack(stage, path) }
      refuse_large(path)
      path
    end

    # Returns the Gem::Specification.
    def specification
      @specification ||= source.tap do |spec|
        spec.platform = platform
        spec.files = spec.files.grep(FILES) + parts.keys + [LICENSES]
        spec.extensions = []
        spec.required_ruby_version = rubies.to_a
        spec.description = format(DESCRIPTION, rubies)
      end
    end

    private

    # An Array, because RubyGems 3.3 drops the name of the C library from a String.
    def platform
      Gem::Platform.new([@cpu, "linux", @library])
    end

    def source
      Gem::Specification.load(File.join(SourceDigest::ROOT, "carat.gemspec")).dup
    end

    def rubies
      RubyRequirement.new(@builds.current.map(&:abi))
    end

    def parts
      @parts ||= @builds.parts.transform_keys { |path| "native/#{@library}/#{path}" }
    end

    def refuse_missing
      return unless @builds.current.empty?

      raise Refusal, "build/ has no current parts for #{@cpu}: run script/setup --build first"
    end

    def refuse_other_library
      parts.each_value { |path| refuse_part(path, GlibcNeed.of(path)) }
    end

    def refuse_part(path, need)
      if @library == "musl"
        raise Refusal, "#{path} is linked with glibc, and the gem is for musl" if need
      elsif !need
        raise Refusal, "#{path} is not linked with glibc"
      elsif need > @glibc
        raise Refusal, "#{path} needs glibc #{need}; compile it on Debian 12, which has #{@glibc}"
      end
    end

    def refuse_large(path)
      size = File.size(path)
      raise Refusal, "#{path} has #{size} bytes; #{SIZE_LIMIT} are allowed" if size > SIZE_LIMIT
    end

    def pack(stage, path)
      specification.files.each { |name| copy(name, stage) }
      Dir.chdir(stage) { Gem::Package.build(specification, false, false, path) }
    end

    # The modes do not depend on the umask of this machine.
    def copy(name, stage)
      target = File.join(stage, name)
      FileUtils.mkdir_p(File.dirname(target))
      if name == LICENSES
        File.write(target, @licenses)
        File.chmod(0o644, target)
      else
        source = parts.fetch(name) { File.join(SourceDigest::ROOT, name) }
        FileUtils.install(source, target, mode: name.start_with?("exe/", "native/") ? 0o755 : 0o644)
      end
    end
  end
end
