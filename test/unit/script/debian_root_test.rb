# frozen_string_literal: true

require "fileutils"
require "open3"
require "test_helper"
require "tmpdir"

class DebianRootTest < Minitest::Test
  ROOT = File.expand_path("../../..", __dir__)

  def setup
    @directory = File.realpath(Dir.mktmpdir)
  end

  def teardown
    FileUtils.rm_rf(@directory)
  end

  %w[aarch64 experimental redmine sid trixie].each do |suite|
    define_method("test_#{suite}_does_not_touch_a_directory_that_holds_anything_else") do
      skip "making a root needs root, unshare and debootstrap" unless able?
      FileUtils.mkdir_p(path("folder/precious"))
      output, status = run_script(suite, "folder")

      assert_equal 2, status.exitstatus, output
      assert_match(%r{\Arefused: #{path("folder")} was not made by script/#{suite}; name an empty directory}, output)
      assert_equal %w[folder folder.lock], Dir.children(@directory).sort
      assert_path_exists path("folder/precious")
    end
  end

  def test_root_that_another_script_made_is_not_entered
    skip "making a root needs root, unshare and debootstrap" unless able?
    FileUtils.mkdir_p(path("root/etc"))
    File.write(path("root/etc/carat-packages"), "")
    File.write(path("root/.carat-made-this"), "script/trixie\n")
    output, status = run_script("sid", "root")

    assert_equal 2, status.exitstatus, output
    assert_match(%r{does not carry the mark of script/sid}, output)
  end

  private

  def path(name)
    File.join(@directory, name)
  end

  def run_script(suite, root)
    Open3.capture2e({ "CARAT_#{suite.upcase}_ROOT" => path(root) }, "#{ROOT}/script/#{suite}", "true")
  end

  def able?
    Process.uid.zero? && system("unshare", "--mount", "true", %i[out err] => File::NULL) &&
      system("sh", "-c", "command -v debootstrap", %i[out err] => File::NULL)
  end
end
