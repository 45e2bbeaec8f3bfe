# frozen_string_literal: true

require "fileutils"
require "open3"
require "rbconfig"
require "test_helper"

class GemTest < Support::IntegrationTest
  ROOT = File.expand_path("../..", __dir__)
  # The same places in all runs: cargo compiles the crates that Carat depends on only once, and replaces its output.
  TARGET = File.join(File.expand_path(ENV.fetch("CARGO_TARGET_DIR", "target"), ROOT), "gem")
  HOME = "#{TARGET}-home"
  # Compiles in a third of the time.
  QUICK = { "CARGO_PROFILE_RELEASE_OPT_LEVEL" => "0", "CARGO_PROFILE_RELEASE_LTO" => "off",
            "CARGO_PROFILE_RELEASE_CODEGEN_UNITS" => "16" }.freeze
  APP = 'run ->(_env) { [200, { "content-type" => "text/plain" }, ["from the gem"]] }'

  def setup
    super
    FileUtils.rm_rf(HOME)
    FileUtils.mkdir_p(HOME)
    @env = { "GEM_HOME" => HOME, "GEM_PATH" => nil, "RUBYLIB" => nil, "RUBYOPT" => nil, "CARGO_TARGET_DIR" => TARGET,
             **QUICK }
  end

  def teardown
    super
    FileUtils.rm_rf(HOME)
  end

  # cargo compiles everything.
  def watchdog_seconds
    1800
  end

  def test_gem_compiles_in_an_empty_home_and_its_command_serves
    gem("build", "carat.gemspec", "--output", File.join(HOME, "carat.gem"))
    gem("install", "--local", "--no-document", File.join(HOME, "carat.gem"))

    assert_equal "carat #{version}\n", run_command(RbConfig.ruby, command, "--version", chdir: HOME)
    assert_includes File.binread(Dir.glob(File.join(HOME, "**", "carat-edge")).first), "narenas:1",
                    "the edge is built without .cargo/config.toml"
    assert_equal 1, Dir.glob(File.join(HOME, "extensions", "**", "malloc.so")).size
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
    File.join(HOME, "bin", "carat")
  end

  def version
    File.read(File.join(ROOT, "lib/carat/version.rb"))[/VERSION = "(.+)"/, 1]
  end
end
