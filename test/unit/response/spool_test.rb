# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "carat/response/spool"

module Carat
  class SpoolTest < Minitest::Test
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
