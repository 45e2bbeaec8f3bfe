# frozen_string_literal: true

require "fileutils"
require "open3"
require "test_helper"
require "tmpdir"

class RubyScriptTest < Minitest::Test
  ROOT = File.expand_path("../../..", __dir__)
  # Makes a Ruby that prints its arguments, and says so.
  INSTALL = <<~'SH'
    #!/bin/sh
    mkdir -p "$1/ruby-9.9.1/bin"
    printf '#!/bin/sh\necho ruby 9.9.1 "$@"\n' >"$1/ruby-9.9.1/bin/ruby"
    chmod +x "$1/ruby-9.9.1/bin/ruby"
    echo installed >&2
  SH

  def setup
    @directory = File.realpath(Dir.mktmpdir)
    FileUtils.mkdir_p([path("rubies"), path("gems"), path("bin")])
    program("bin/dpkg-query", "#!/bin/sh\nprintf installed\n")
    program("rubies/install", INSTALL)
    FileUtils.touch(path("rubies/ruby-9.9.1-#{`uname -m`.chomp}-linux.tar.xz"))
  end

  def teardown
    FileUtils.rm_rf(@directory)
  end

  def test_ruby_is_installed_once_and_comes_first_in_the_path
    assert_equal ["installed\nruby 9.9.1 -v\n", 0], run_script
    assert_equal ["ruby 9.9.1 -v\n", 0], run_script
    assert_equal %w[bin gems root root.lock rubies], Dir.children(@directory).sort
  end

  def test_further_gems_are_installed_too
    run_script
    FileUtils.touch(path("gems/new.gem"))

    assert_equal ["installed\nruby 9.9.1 -v\n", 0], run_script
  end

  def test_what_is_missing_is_one_line_and_status_77
    output, status = run_script("8.8")

    assert_equal 77, status
    assert_match(/\A\n!!! NOT RUN ON RUBY 8.8: #{path("rubies")} has no ruby-8.8\*-.* !!!\n\n\z/, output)
  end

  def test_installation_that_fails_leaves_nothing_that_looks_complete
    program("rubies/install", "#!/bin/sh\nmkdir -p $1/ruby-9.9.1/bin\nexit 1\n")

    assert_equal 77, run_script.last
    refute_path_exists path("root")
    program("rubies/install", INSTALL)
    assert_equal ["installed\nruby 9.9.1 -v\n", 0], run_script
  end

  def test_directory_that_holds_anything_else_is_not_touched
    FileUtils.mkdir_p(path("root/precious"))
    output, status = run_script

    assert_equal 2, status, output
    assert_match(/\Arefused: #{path("root")} was not made by script\/ruby/, output)
    assert_path_exists path("root/precious")
  end

  private

  def path(name)
    File.join(@directory, name)
  end

  def program(name, text)
    File.write(path(name), text)
    File.chmod(0o755, path(name))
  end

  def run_script(version = "9.9")
    environment = { "CARAT_RUBIES" => path("rubies"), "CARAT_RUBY_ROOT" => path("root"), "RUBYOPT" => nil,
                    "PATH" => "#{path("bin")}:#{ENV.fetch("PATH")}" }
    output, status = Open3.capture2e(environment, "#{ROOT}/script/ruby", version, "ruby", "-v")
    [output, status.exitstatus]
  end
end
