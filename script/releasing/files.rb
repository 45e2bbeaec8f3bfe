# frozen_string_literal: true

require "digest"
require "fileutils"
require "rbconfig"
require "rubygems"
require "rubygems/package"
require "tmpdir"
require_relative "checkout"

module Releasing
  # The files of a release, in the directory pkg.
  class Files
    ROOT = Checkout::ROOT
    DIRECTORY = File.join(ROOT, "pkg")
    SUMS = "SHA256SUMS"
    SPECIFICATIONS = { "carat" => "carat.gemspec", "carat-lab" => "lab/carat-lab.gemspec" }.freeze
    # The crates that are compiled into a part each.
    PARTS = %w[carat-edge carat-malloc carat-native].freeze
    # The extension of carat-lab has a workspace of its own.
    WORKSPACES = %w[Cargo.toml lab/crate/Cargo.toml].freeze
    # The last one that Rust 1.85 compiles.
    CYCLONEDX = "0.5.9"
    TOOLS = File.join(ROOT, "tmp/tools")

    # `directory` is where the files are.
    def initialize(version, directory: DIRECTORY)
      @version = version
      @directory = directory
    end

    # Packs the gems that compile. The same commit makes the same bytes.
    def source
      FileUtils.mkdir_p(@directory)
      settle_date
      SPECIFICATIONS.each do |name, path|
        directory, file = File.split(File.join(ROOT, path))
        execute("gem", "build", "--quiet", file, "--output", pkg("#{name}-#{@version}.gem"), chdir: directory)
      end
    end

    # Compiles the parts for this Ruby; `mode` is the flag of script/setup.
    def parts(mode = "--release")
      execute("script/setup", mode)
    end

    # Puts parts that script/releasing/parts.sh has packed elsewhere into build/.
    def unpack(*archives)
      archives.each { |path| execute("tar", "-xf", File.expand_path(path)) }
    end

    # Packs the parts in build/; `words` are the processor and the C library, by default this machine's.
    def platform(*words)
      execute(RbConfig.ruby, "script/platform_gem/main.rb", *words)
    end

    # Writes a CycloneDX document for each part, of the crates that it has on x86-64; those on aarch64 are the same. The
    # tool writes beside each crate: it gets a copy of them.
    def sbom
      FileUtils.mkdir_p(@directory)
      settle_date
      install_cyclonedx
      Dir.mktmpdir("carat-sbom-") do |copy|
        copy_crates(copy)
        execute("cargo", "cyclonedx", "--format", "json", "--spec-version", "1.5", "--no-build-deps",
                "--target", "x86_64-unknown-linux-gnu", "--override-filename", "sbom",
                chdir: copy, env: { "PATH" => "#{TOOLS}/bin:#{ENV.fetch("PATH")}" })
        PARTS.each { |crate| File.write(pkg(document(crate)), described(crate, copy)) }
      end
    end

    # Writes the checksums of all files of this version, as sha256sum does.
    def sums
      lines = names.map { |name| "#{Digest::SHA256.file(pkg(name)).hexdigest}  #{name}\n" }
      File.write(pkg(SUMS), lines.join)
      puts lines
    end

    # Gets the crates that the gems compile, for trials without a network.
    def crates
      WORKSPACES.each { |path| execute("cargo", "fetch", "--locked", "--manifest-path", path) }
    end

    # Gets the gem that Carat depends on, for machines without a network.
    def rack
      directory = pkg("rack")
      FileUtils.rm_rf(directory)
      FileUtils.mkdir_p(directory)
      execute("gem", "fetch", "rack", chdir: directory)
    end

    # Returns the paths of the gems of each trial on this machine: each gem of Carat that it can install, and carat-lab
    # with the first of these, which has compiled parts if there is one for this machine.
    def trials
      labs, ours = gems.partition { |path| File.basename(path).start_with?("carat-lab-") }
      ours.select! { |path| installs_here?(path) }
      ours.map { |path| [path] } + labs.map { |path| [path, *ours.first] }
    end

    # Returns the paths of all gems. Those that compile are the last.
    def gems
      names.grep(/\.gem\z/).sort_by { |name| [-name.count("-"), name] }.map { |name| pkg(name) }
    end

    # Returns the paths of all files of the release; those of this version that are in the directory.
    def all
      [*names, SUMS].map { |name| pkg(name) }
    end

    private

    def settle_date
      ENV["SOURCE_DATE_EPOCH"] ||= IO.popen(["git", "-C", ROOT, "log", "-1", "--format=%ct"], &:read).chomp
    end

    # A document is named after what it describes: carat-0.1.0-edge.cdx.json for the crate carat-edge.
    def document(crate)
      "#{crate.sub("carat", "carat-#{@version}")}.cdx.json"
    end

    # What the tool says of a crate. It identifies Carat's own by the directory of the copy, which each run names anew.
    def described(crate, copy)
      File.read(File.join(copy, "crates", crate, "sbom.json")).gsub(File.realpath(copy), "")
    end

    def names
      version = Regexp.escape(@version)
      found = Dir.glob("*", base: @directory).grep(/\Acarat(-lab)?-#{version}(-[\w-]+)?\.(gem|cdx\.json)\z/)
      raise Refusal, "#{@directory} has no file of #{@version}" if found.empty?

      found.sort
    end

    def installs_here?(path)
      spec = Gem::Package.new(path).spec
      Gem::Platform.match_spec?(spec) && spec.required_ruby_version.satisfied_by?(Gem.ruby_version)
    end

    def copy_crates(copy)
      Dir.glob(%w[Cargo.{toml,lock} crates/**/*.{rs,toml}], base: ROOT).each do |path|
        target = File.join(copy, path)
        FileUtils.mkdir_p(File.dirname(target))
        FileUtils.cp(File.join(ROOT, path), target)
      end
      write_version(File.join(copy, "Cargo.toml"))
    end

    # The crates of the checkout keep their version, and those of a release have that of its gems, as cargo writes it.
    def write_version(manifest)
      version = @version.sub(/\.(?=[a-z])/, "-")
      File.write(manifest, File.read(manifest).sub(/^version = ".*"$/, %(version = "#{version}")))
    end

    def install_cyclonedx
      return if File.executable?(File.join(TOOLS, "bin/cargo-cyclonedx"))

      execute("cargo", "install", "cargo-cyclonedx", "--version", CYCLONEDX, "--locked", "--root", TOOLS)
    end

    def execute(*words, chdir: ROOT, env: {})
      system(env, *words, chdir:) || raise(Refusal, "#{words.join(" ")} failed")
    end

    def pkg(name)
      File.join(@directory, name)
    end
  end
end
