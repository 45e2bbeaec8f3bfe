# frozen_string_literal: true

require "fileutils"
require "open3"
require "rbconfig"
require "test_helper"

# The source gem on machines where Carat does not serve: it installs without compiled parts and says so when it is used.
class OtherSystemsTest < Support::IntegrationTest
  ROOT = File.expand_path("../..", __dir__)
  SENTENCE = /\Acarat: serves on Linux, and this is [\w-]+: start Puma here for development, or Carat in .+\n\z/

  def setup
    super
    @home = File.realpath(Dir.mktmpdir("carat-gem-"))
    FileUtils.mkdir_p(path("bin"))
    FileUtils.ln_s(find("make", ENV.fetch("PATH").split(":")), path("bin/make"))
    @env = { "GEM_HOME" => path("gems"), "GEM_PATH" => nil, "RUBYLIB" => nil, "HOME" => @home, "PATH" => path("bin"),
             "RUBYOPT" => "-r#{ROOT}/test/support/another_system" }
    run_command("gem", "build", "carat.gemspec", "--output", path("carat.gem"), chdir: ROOT)
    application
  end

  def teardown
    super
    FileUtils.rm_rf(@home)
  end

  def test_gem_installs_on_a_mac_and_each_way_to_serve_says_where_carat_serves
    install("darwin23")

    assert_equal [1, true], refusal("carat")
    assert_equal [1, true], refusal("carat", "doctor")
    assert_equal [1, true], refusal("rackup", "-s", "carat") if rackup?
  end

  def test_configurations_are_translated_and_checked_on_a_mac
    install("darwin23")

    assert_includes run_command("carat", "check"), "the configuration is valid"
    assert_includes run_command("carat", "import"), "workers 2"
    assert_includes run_command("carat", "help"), "Usage: carat [options] [config.ru]"
  end

  def test_gem_installs_on_windows
    install("mingw-ucrt")

    assert_equal [1, true], refusal("carat")
    assert_includes run_command("carat", "check"), "the configuration is valid"
    assert_includes run_command("carat", "help", "check"), "Usage: carat check"
  end

  def test_bundle_installs_on_a_mac
    write("Gemfile", %(source "https://rubygems.org"\ngem "carat"\n))
    write("vendor/cache/carat-#{version}.gem", File.binread(path("carat.gem")))
    @env["CARAT_TEST_SYSTEM"] = "darwin23"
    run_command("bundle", "install", "--local", "--no-cache")

    assert_match(/^    carat \(#{Regexp.escape(version)}\)$/, File.read(path("app/Gemfile.lock")))
    assert_equal [1, true], refusal("carat")
  end

  private

  # Installs the gem as on a machine with the operating system `name`.
  def install(name)
    @env["CARAT_TEST_SYSTEM"] = name
    run_command("gem", "install", "--local", "--no-document", path("carat.gem"))
    assert_empty Dir.glob(path("gems/**/*.so"))
  end

  def application
    write("config.ru", "run ->(_env) { [200, {}, []] }\n")
    write("config/puma.rb", "workers 2\nport 3000\n")
  end

  # Returns the exit status of a command, and true when the sentence is all that it says. RubyGems tells of other gems
  # whose extensions are for this machine.
  def refusal(*words)
    output, status = execute(words)
    said = output.lines.grep_v(/\AIgnoring /).join
    [status.exitstatus, said.match?(SENTENCE) || said]
  end

  def run_command(*words, chdir: path("app"))
    output, status = execute(words, chdir:)
    assert_predicate status, :success?, "#{words.join(" ")}:\n#{output}"
    output
  end

  def execute(words, chdir: path("app"))
    FileUtils.mkdir_p(chdir)
    Open3.capture2e(@env, RbConfig.ruby, program(words.first), *words.drop(1), chdir:)
  end

  # The path of a program of this Ruby, or of the gem.
  def program(name)
    find(name, [path("gems/bin"), RbConfig::CONFIG.fetch("bindir"), Gem.bindir])
  end

  def find(name, directories)
    directories.map { |directory| File.join(directory, name) }.find { |file| File.file?(file) }
  end

  def rackup?
    program("rackup")
  end

  def version
    File.read(File.join(ROOT, "lib/carat/version.rb"))[/VERSION = "(.+)"/, 1]
  end

  def write(name, text)
    file = path("app/#{name}")
    FileUtils.mkdir_p(File.dirname(file))
    File.binwrite(file, text)
  end

  def path(name)
    File.join(@home, name)
  end
end
