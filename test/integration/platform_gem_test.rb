# frozen_string_literal: true

require "digest"
require "fileutils"
require "open3"
require "rbconfig"
require "zlib"
require "test_helper"
require_relative "../../script/platform_gem/package"

# The gem is packed from what this checkout has compiled, for this Ruby and for those of other runs: quick builds too.
class PlatformGemTest < Support::IntegrationTest
  APP = <<~RUBY
    mapped = File.foreach("/proc/self/maps").filter_map { |line| line.split[5] }.uniq.grep(/(native|malloc)[.]so/)
    run ->(_env) { [200, { "content-type" => "text/plain" }, [mapped.sort.join("\\n")]] }
  RUBY

  ANOTHER_SYSTEM = File.expand_path("../support/another_system", __dir__)

  # What a gem has beside its parts.
  NEEDED = %r{\A(lib/.+\.rb|exe/carat|share/\w.+|[A-Z-]+(\.md)?)\z}

  def setup
    super
    @home = File.realpath(Dir.mktmpdir("carat-gem-"))
    @empty = File.join(@home, "empty")
    FileUtils.mkdir_p(@empty)
    @env = { "GEM_HOME" => path("gems"), "GEM_PATH" => nil, "RUBYLIB" => nil, "RUBYOPT" => nil, "HOME" => @home,
             "PATH" => @empty, "LIBCLANG_PATH" => nil }
    refute_empty builds.current, "script/setup has compiled this Ruby's parts from these sources"
  end

  def teardown
    super
    FileUtils.rm_rf(@home)
  end

  # Packing and installing are slow on a busy machine.
  def watchdog_seconds
    300
  end

  def test_gem_installs_and_serves_without_a_compiler
    gem("install", "--local", "--no-document", write_gem)

    assert_match(/\Acarat \d/, run_command(RbConfig.ruby, command, "--version"))
    assert_empty Dir.glob(File.join(@home, "gems/extensions/**/*.so")), "nothing is compiled"
    parts = %W[native/gnu/#{ruby_version}/carat/native.so native/gnu/carat/malloc.so].map { |name| installed(name) }
    assert_equal parts.join("\n"),
                 serve(APP, command: [RbConfig.ruby, command], env: @env).get.body
  end

  # RubyGems before 3.3.22 installs it there.
  def test_gem_on_a_machine_with_musl_says_what_helps
    gem("install", "--local", "--no-document", write_gem)
    File.write(path("config.ru"), APP)
    musl = { "CARAT_TEST_SYSTEM" => "linux-musl", "RUBYOPT" => "-r#{ANOTHER_SYSTEM}" }
    words = [RbConfig.ruby, "-I", installed("lib"), installed("exe/carat")]
    output, status = Open3.capture2e({ **@env, **musl }, *words, chdir: @home)

    assert_match(/carat: not built for Ruby \S+-linux-musl: .* another C library .* gem update --system/, output)
    assert_equal 1, status.exitstatus
  end

  def test_gem_contains_only_what_users_need
    file = write_gem
    parts, others = modes(file).partition { |name, _mode| name.start_with?("native/") }.map(&:to_h)
    rubies = builds.current.map { |build| "native/gnu/#{build.abi}/carat/native.so" }

    assert_equal ["native/gnu/carat/carat-edge", "native/gnu/carat/malloc.so", *rubies].sort, parts.keys.sort
    assert_equal [0o755], parts.values.uniq
    assert_equal 0o755, others.fetch("exe/carat")
    assert_empty(others.keys.reject { |name| name.match?(NEEDED) })
    assert_operator File.size(file), :<=, 12_000_000
  end

  def test_parts_run_with_the_glibc_of_debian_12
    skip "nothing here was compiled on Debian 12, which has Ruby 3.1" if builds.current.map(&:abi).grep("3.1.0").empty?
    Gem::Package.new(write_gem(glibc: PlatformGem::GlibcNeed::DEBIAN)).extract_files(path("unpacked"))
    files = Dir.glob(path("unpacked/native/**/{*.so,carat-edge}"))

    assert_equal %w[carat-edge malloc.so native.so], files.map { |file| File.basename(file) }.uniq.sort
    assert_operator files.map { |file| PlatformGem::GlibcNeed.of(file) }.max, :<=, Gem::Version.new("2.36")
  end

  def test_same_parts_make_the_same_bytes
    digests = Array.new(2) { |number| Digest::SHA256.file(write_gem("run-#{number}")).hexdigest }

    assert_equal 1, digests.uniq.size
  end

  private

  def builds
    @builds ||= PlatformGem::Builds.new(mark: PlatformGem::Builds::ANY)
  end

  # Returns the mode of each file of the gem.
  def modes(file)
    Gem::Package.new(file).extract_files(path("unpacked"))
    names = Dir.glob("**/*", base: path("unpacked")).select { |name| File.file?(path("unpacked/#{name}")) }
    names.to_h { |name| [name, File.stat(path("unpacked/#{name}")).mode & 0o777] }
  end

  # Returns the path of the gem.
  def write_gem(directory = "pkg", glibc: Gem::Version.new("99"))
    package = PlatformGem::Package.new(builds, licenses: "licenses", glibc: glibc)
    Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) { package.write(path(directory)) }
  end

  def gem_command
    [RbConfig.ruby, File.join(RbConfig::CONFIG.fetch("bindir"), "gem")]
  end

  def gem(*words, chdir: @home)
    run_command(*gem_command, *words, chdir: chdir)
  end

  def run_command(*words, chdir: @home)
    output, status = Open3.capture2e(@env, *words, chdir: chdir)
    assert_predicate status, :success?, "#{words.join(" ")}:\n#{output}"
    output
  end

  def command
    path("gems/bin/carat")
  end

  def installed(name)
    Dir.glob(path("gems/gems/carat-*/#{name}")).first
  end

  def ruby_version
    RbConfig::CONFIG.fetch("ruby_version")
  end

  def path(name)
    File.join(@home, name)
  end
end
