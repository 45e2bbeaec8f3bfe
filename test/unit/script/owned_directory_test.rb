# frozen_string_literal: true

require "fileutils"
require "open3"
require "test_helper"
require "tmpdir"

class OwnedDirectoryTest < Minitest::Test
  ROOT = File.expand_path("../../..", __dir__)
  MARK = ".carat-made-this"
  BIND = 'mount --bind "$1/source" "$1/target/mnt"'

  def setup
    @directory = File.realpath(Dir.mktmpdir)
  end

  def teardown
    FileUtils.rm_rf(@directory)
  end

  def test_directory_that_it_made_is_removed_with_all_that_is_in_it
    bash('make_owned "$1/target" me; mkdir "$1/target/bin"; remove_owned "$1/target" me')

    assert_empty Dir.children(@directory)
  end

  def test_directory_that_does_not_exist_needs_no_removal
    assert_equal "", bash('remove_owned "$1/missing" me')
  end

  def test_directory_without_the_mark_is_not_removed
    write("target/precious", "")

    assert_refused(/target was not made by me, so it is not deleted/, 'remove_owned "$1/target" me')
    assert_path_exists path("target/precious")
  end

  def test_directory_with_the_mark_of_another_maker_is_not_removed
    write("target/#{MARK}", "script/sid\n")

    assert_refused(/not deleted/, 'remove_owned "$1/target" script/trixie')
  end

  def test_symbolic_link_to_a_marked_directory_is_not_removed
    write("target/#{MARK}", "me\n")
    File.symlink("target", path("link"))

    assert_refused(/not deleted/, 'remove_owned "$1/link" me')
    assert_path_exists path("target/#{MARK}")
  end

  def test_directory_with_other_files_is_not_taken
    write("target/precious", "")

    assert_refused(/name an empty directory or one that does not exist/, 'make_owned "$1/target" me')
    assert_equal ["precious"], Dir.children(path("target"))
  end

  def test_symbolic_link_is_not_taken
    FileUtils.mkdir(path("target"))
    File.symlink("target", path("link"))

    assert_refused(/symbolic link/, 'make_owned "$1/link" me')
  end

  def test_directory_in_which_something_is_mounted_is_not_removed
    skip "mounting needs root" unless can_mount?
    write("source/precious", "")
    write("target/#{MARK}", "me\n")
    FileUtils.mkdir(path("target/mnt"))

    output, status = Open3.capture2e(*in_namespace("#{BIND}; remove_owned \"$1/target\" me"))
    assert_equal 1, status.exitstatus
    assert_match(%r{not deleted while something is mounted in it: #{@directory}/target/mnt}, output)
    assert_path_exists path("source/precious")
  end

  private

  def path(name)
    File.join(@directory, name)
  end

  def write(name, text)
    FileUtils.mkdir_p(File.dirname(path(name)))
    File.write(path(name), text)
  end

  def command(program)
    ["bash", "-c", ". #{ROOT}/script/owned_directory.sh; #{program}", "_", @directory]
  end

  def in_namespace(program)
    ["unshare", "--mount", "--propagation", "private", *command(program)]
  end

  def can_mount?
    Process.uid.zero? && system("unshare", "--mount", "true", err: File::NULL)
  end

  def bash(program)
    output, status = Open3.capture2e(*command(program))
    assert_predicate status, :success?, output
    output
  end

  def assert_refused(pattern, program)
    output, status = Open3.capture2e(*command(program))
    assert_equal 1, status.exitstatus, output
    assert_match pattern, output
    assert_equal 1, output.lines.size
  end
end
