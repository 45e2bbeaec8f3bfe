# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "carat/spool"

class SpoolTest < Minitest::Test
  def test_the_pieces_are_in_a_file_that_has_no_name
    Dir.mktmpdir do |directory|
      Carat::Spool.open(directory, ["a\n", "\xFF", "b"]) do |file|
        assert_equal ["a\n\xFFb".b, 0, true], [file.pread(10, 0).b, file.stat.nlink, file.close_on_exec?]
      end
      assert_empty Dir.children(directory)
    end
  end

  def test_a_file_system_without_nameless_files_gets_one_that_is_unlinked_at_once
    Dir.mktmpdir do |directory|
      file = Carat::Spool.create_named(directory)
      assert_equal [0, 0o600, []], [file.stat.nlink, file.stat.mode & 0o777, Dir.children(directory)]
      file.close
    end
  end

  def test_a_directory_that_is_missing_is_an_error
    assert_raises(Errno::ENOENT) { Carat::Spool.open("/no/such/directory", []) { flunk } }
  end
end
