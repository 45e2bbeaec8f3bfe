# frozen_string_literal: true

require "fileutils"
require "open3"
require "test_helper"
require "tmpdir"

class OwnedDirectoryTest < Minitest::Test
  SCRIPT = File.expand_path("../../../script/owned_directory.sh", __dir__)
  # What is in the directory, what is asked, and why it is refused.
  REFUSED = {
    ["target/precious", "", 'remove_owned "$1/target" me'] => /target was not made by me, so it is not deleted/,
    ["target/.carat-made-this", "other\n", 'remove_owned "$1/target" me'] => /not deleted/,
    ["target/.carat-made-this", "me\n", 'ln -s target "$1/link"; remove_owned "$1/link" me'] => /not deleted/,
    ["target/precious", "", 'make_owned "$1/target" me'] => /name an empty directory or one that does not exist/,
    ["target/.carat-made-this", "me\n", 'ln -s target "$1/link"; make_owned "$1/link" me'] => /symbolic link/
  }.freeze
  MOUNTED = 'mount --bind "$1/source" "$1/target/mnt"; remove_owned "$1/target" me'

  def test_directory_that_it_made_is_removed_with_all_that_is_in_it
    program = 'make_owned "$1/target" me; mkdir "$1/target/bin"; remove_owned "$1/target" me; remove_owned "$1/no" me'

    assert_equal ["", 0, []], run_bash(program) { |directory| Dir.children(directory) }
  end

  def test_directories_of_others_are_neither_removed_nor_taken
    REFUSED.each do |(name, text, program), reason|
      output, status, kept = run_bash(program, name => text) { |directory| File.exist?(File.join(directory, name)) }
      assert_equal [1, 1, true], [output.lines.size, status, kept], program
      assert_match reason, output
    end
  end

  def test_directory_in_which_something_is_mounted_is_not_removed
    skip "mounting needs root" unless Process.uid.zero? && system("unshare", "--mount", "true", err: File::NULL)
    files = { "source/precious" => "", "target/.carat-made-this" => "me\n", "target/mnt/.keep" => "" }
    output, status, kept = run_bash(MOUNTED, files, "unshare", "--mount", "--propagation", "private") do |directory|
      File.exist?(File.join(directory, "source/precious"))
    end

    assert_equal [1, true], [status, kept]
    assert_match(%r{not deleted while something is mounted in it: \S+/target/mnt}, output)
  end

  private

  # What the program prints, its status, and what the block says of the directory afterward.
  def run_bash(program, files = {}, *prefix)
    Dir.mktmpdir do |directory|
      directory = File.realpath(directory)
      files.each do |name, text|
        FileUtils.mkdir_p(File.dirname(File.join(directory, name)))
        File.write(File.join(directory, name), text)
      end
      output, status = Open3.capture2e(*prefix, "bash", "-c", ". #{SCRIPT}; #{program}", "_", directory)
      [output, status.exitstatus, yield(directory)]
    end
  end
end
