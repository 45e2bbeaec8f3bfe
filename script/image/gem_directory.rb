# frozen_string_literal: true

require "fileutils"

module Image
  # A directory in a root that stands for RubyGems: Carat, and the Rack of the root, of which Debian packages no gem.
  class GemDirectory
    PATH = "srv/gems"
    # Packs a gem of which there are only the files.
    REPACK = <<~'RUBY'
      require "fileutils"
      require "rack"
      require "rubygems/package"
      spec = Gem::Specification.find_by_name("rack")
      FileUtils.mkdir_p("lib")
      FileUtils.cp_r($LOADED_FEATURES.grep(%r{/rack\.rb\z}).flat_map { |path| [path, path.delete_suffix(".rb")] }, "lib")
      copy = Gem::Specification.new("rack", spec.version) do |gem|
        gem.summary = gem.author = gem.homepage = gem.license = "Rack"
        gem.files = Dir["lib/**/*.rb"]
      end
      Gem::Package.build(copy, true)
    RUBY
    # Gives gems the names by which Bundler asks for them. A RubyGems before 3.3.22 knows no platform `linux-gnu`.
    RENAME = <<~'RUBY'
      require "rubygems/package"
      Dir["*.gem"].each { |gem| File.rename(gem, "#{Gem::Package.new(gem).spec.full_name}.gem") }
    RUBY
    # Writes what clients read: `gem generate_index` of earlier RubyGems knows no platform `linux-gnu`.
    INDEX = <<~'RUBY'
      require "fileutils"
      require "rubygems/package"
      require "zlib"
      FileUtils.mkdir_p("quick/Marshal.4.8")
      specs = Dir["gems/*.gem"].map { |gem| Gem::Package.new(gem).spec }
      specs.each do |spec|
        File.binwrite("quick/Marshal.4.8/#{spec.full_name}.gemspec.rz", Zlib.deflate(Marshal.dump(spec)))
      end
      tuples = specs.map { |spec| [spec.name, spec.version, spec.original_platform.to_s] }
      { specs: tuples, latest_specs: tuples, prerelease_specs: [] }.each do |name, list|
        File.binwrite("#{name}.4.8.gz", Gem::Util.gzip(Marshal.dump(list)))
      end
    RUBY
    # The mirror in place of RubyGems. A directory tells no checksums, of which Bundler 4 would miss some.
    MIRROR = "---\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"file:///#{PATH}/\"\nBUNDLE_LOCKFILE_CHECKSUMS: \"false\"\n"
    private_constant :PATH, :REPACK, :RENAME, :INDEX, :MIRROR

    # @param root [String] a root file system with Ruby, Bundler, and Rack
    def initialize(root)
      @root = root
      @path = File.join(root, PATH)
      FileUtils.mkdir_p(File.join(@path, "gems"))
    end

    # Adds the gem at `carat`, or that of this checkout, and those at the paths `gems`, or Rack; then makes the
    # directory the mirror of RubyGems.
    def fill(carat, gems = nil)
      add_carat(carat)
      gems ? add(gems) : add_rack
      ruby("/#{PATH}", INDEX)
      FileUtils.mkdir_p(File.join(@root, "root/.bundle"))
      File.write(File.join(@root, "root/.bundle/config"), MIRROR)
    end

    # Writes the Gemfile.lock of an application in the root.
    def lock(directory)
      inside(directory, "bundle", "lock")
    end

    private

    def add_carat(path)
      return FileUtils.cp(path, File.join(@path, "gems")) if path

      name = Gem::Specification.load("carat.gemspec").full_name
      run("gem", "build", "carat.gemspec", "--silent", "--output", File.join(@path, "gems/#{name}.gem"))
    end

    def add(gems)
      FileUtils.cp(gems, File.join(@path, "gems"))
      ruby("/#{PATH}/gems", RENAME)
    end

    def add_rack
      work = File.join(@root, "tmp/rack")
      FileUtils.mkdir_p(work)
      ruby("/tmp/rack", REPACK)
      FileUtils.cp(Dir.glob(File.join(work, "*.gem")), File.join(@path, "gems"))
    end

    def ruby(directory, program) = inside(directory, "ruby", "-e", program)

    # Runs a program of the root in one of its directories. A Ruby that may be moved asks /proc where it is.
    def inside(directory, *command)
      run("unshare", "--mount", "--propagation", "private", "sh", "-euc", <<~'SH', "_", @root, directory, *command)
        root=$1 directory=$2
        shift 2
        mount -t proc proc "$root/proc"
        exec chroot "$root" sh -c 'cd "$0" && exec "$@"' "$directory" "$@"
      SH
    end

    def run(*command)
      system(*command, exception: true)
    end
  end
end
