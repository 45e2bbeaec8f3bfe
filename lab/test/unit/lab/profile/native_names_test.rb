# frozen_string_literal: true

require "minitest/autorun"
require "tmpdir"
require "carat/lab/profile/native_names"

module Carat
  class NativeNamesTest < Minitest::Test
    SOURCE = <<~C
      int exported(int number) { return number + 1; }
      __attribute__((noinline, used)) static int hidden(int number) { return number * 3; }
      int last(int number) { return hidden(number) + exported(number); }
    C

    def test_stripped_library_has_offsets_and_not_the_nearest_name
      Dir.mktmpdir do |directory|
        library = File.join(directory, "library.so")
        IO.popen(["cc", "-x", "c", "-shared", "-fPIC", "-O1", "-o", library, "-"], "w") { |cc| cc.write(SOURCE) }
        offset = Integer(IO.popen(["nm", library], &:read)[/^(\h+) t hidden$/, 1], 16)

        assert_equal "hidden", names(library, offset).fetch(library, offset)
        assert system("strip", library)
        assert_equal format("library.so+0x%x", offset), names(library, offset).fetch(library, offset)
      end
    end

    private

    def names(library, offset)
      Lab::Profile::NativeNames.new([[library, offset]])
    end
  end
end
