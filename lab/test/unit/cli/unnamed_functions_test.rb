# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/unnamed_functions"
require "fileutils"
require "tmpdir"

module Carat
  class UnnamedFunctionsTest < Minitest::Test
    NAMES = ["rb_str_times", "leak (leaky.so+0x1127)", "leaky.so+0x1120", "leaky.so+0x1140", "libc.so.6+0xff"].freeze

    def test_named_functions_need_no_remark
      assert_nil CLI::UnnamedFunctions.remark(NAMES.first(2))
    end

    def test_remedy_depends_on_whether_there_is_a_program_that_finds_names
      Dir.mktmpdir do |directory|
        assert_equal "No names for functions of leaky.so, libc.so.6: install addr2line (apt install binutils).",
                     CLI::UnnamedFunctions.remark(NAMES, path: directory)
        FileUtils.touch(File.join(directory, "addr2line"))
        FileUtils.chmod(0o755, File.join(directory, "addr2line"))
        assert_equal "No names for functions of leaky.so, libc.so.6: install the debug symbols, or build without " \
                     "stripping them.", CLI::UnnamedFunctions.remark(NAMES, path: "/nowhere:#{directory}")
      end
    end
  end
end
