# frozen_string_literal: true

require "fileutils"
require "open3"
require "rbconfig"
require "test_helper"
require "tmpdir"

class GemTest < Support::IntegrationTest
  ROOT = File.expand_path("../..", __dir__)
  # One directory for all runs: cargo compiles the crates that Carat depends on only once.
  TARGET = File.join(File.expand_path(ENV.fetch("CARGO_TARGET_DIR", "target"), ROOT), "gem")
  APP = 'run ->(_env) { [200, { "content-type" => "text/plain" }, ["from the gem"]] }'

  def setup
    super
    @home = File.realpath(Dir.mktmpdir("carat-gem-"))
    @env = { "GEM_HOME" => @home, "GEM_PATH" => nil, "RUBYLIB" => nil, "RUBYOPT" => nil, "CARGO_TARGET_DIR" => TARGET }
  end

  def teardown
    super
    FileUtils.remove_entry(@home)
  end

  def test_gem_compiles_in_an_empty_home_and_its_command_serves
    gem("build", "carat.gemspec", "--output", File.join(@home, "carat.gem"))
    gem("install", "--local", "--no-document", File.join(@home, "carat.gem"))

    assert_equal "carat #{version}\n", run_command(RbConfig.ruby, command, "--version", chdir: @home)
    assert_equal "from the gem", serve(APP, command: [RbConfig.ruby, command], env: @env).get.body
  end

  private

  def gem(*words)
    run_command(RbConfig.ruby, "-S", "gem", *words, chdir: ROOT)
  end

  def run_command(*words, chdir:)
    output, status = Open3.capture2e(@env, *words, chdir: chdir)
    assert status.success?, "#{words.join(" ")}:\n#{output}"
    output
  end

  def command
    File.join(@home, "bin", "carat")
  end

  def version
    File.read(File.join(ROOT, "lib/carat/version.rb"))[/VERSION = "(.+)"/, 1]
  end
end
