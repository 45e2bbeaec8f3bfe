# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "carat/response/spool"

module Carat
  class SpoolTest < Minitest::Test
    def test_pieces_are_in_a_file_that_has_no_name
      Dir.mktmpdir do |directory|
        Response::Spool.open(directory, ["a\n", "\xFF", "b"]) do |file|
          assert_equal ["a\n\xFFb".b, 0, true], [file.pread(10, 0).b, file.stat.nlink, file.close_on_exec?]
        end
        assert_empty Dir.children(directory)
      end
    end

    def test_nothing_is_transcoded_whatever_encodings_are_the_default
      with_defaults(Encoding::UTF_8, Encoding::ISO_8859_1) do
        Dir.mktmpdir do |directory|
          pieces = ["\x9C".b, "\xE9".dup.force_encoding(Encoding::ISO_8859_1), "\u20AC"]
          Response::Spool.open(directory, pieces) { |file| assert_equal "\x9C\xE9\u20AC".b, file.pread(10, 0).b }
        end
      end
    end

    def test_without_o_tmpfile_the_file_is_unlinked_at_once
      Dir.mktmpdir do |directory|
        file = Response::Spool.create_named(directory)
        assert_equal [0, 0o600, []], [file.stat.nlink, file.stat.mode & 0o777, Dir.children(directory)]
        file.close
      end
    end

    def test_directory_that_is_missing_is_an_error
      assert_raises(Errno::ENOENT) { Response::Spool.open("/no/such/directory", []) { flunk } }
    end

    private

    def with_defaults(internal, external)
      before = [Encoding.default_internal, Encoding.default_external]
      defaults(internal, external)
      yield
    ensure
      defaults(*before)
    end

    def defaults(internal, external)
      verbose, $VERBOSE = $VERBOSE, nil
      Encoding.default_internal = internal
      Encoding.default_external = external
    ensure
      $VERBOSE = verbose
    end
  end
end
