# frozen_string_literal: true

require "fileutils"
require "test_helper"
require "tmpdir"
require_relative "../../../script/suite/sizes"

class SizesTest < Minitest::Test
  def test_what_is_within_its_budget_is_not_mentioned
    assert_empty findings("lib/a.rb" => ruby_method(25))
  end

  def test_over_the_budget_is_a_note_and_over_the_limit_a_failure
    found = findings("lib/a.rb" => ruby_method(26), "lib/b.rb" => ruby_method(51))

    assert_equal ["note: lib/a.rb:1 long: 26 lines, budget 25, limit 50",
                  "failure: lib/b.rb:1 long: 51 lines, budget 25, limit 50"], found.map(&:to_s)
  end

  def test_tests_at_the_end_of_a_rust_file_do_not_count
    tests = "#[cfg(test)]\nmod tests {\n#{"    // x\n" * 600}}\n"

    assert_empty findings("crates/carat-wire/src/a.rs" => "//! A.\n#{tests}")
  end

  def test_long_rust_functions_are_found
    found = findings("crates/carat-wire/src/a.rs" => "pub(crate) async fn long() {\n#{"    x();\n" * 49}}\n")

    assert_equal ["failure: crates/carat-wire/src/a.rs:1 long: 51 lines, budget 25, limit 50"], found.map(&:to_s)
  end

  def test_declarations_and_one_line_methods_are_no_long_functions
    body = "    x();\n" * 60
    rust = "trait T {\n    fn a(&self);\n    fn b(\n        &self,\n    ) -> u8;\n}\nmod m {\n#{body}}\n"

    assert_empty findings("crates/a/src/a.rs" => rust, "lib/a.rb" => "def a(b = 1) = b\n#{"x\n" * 60}if x\nend\n")
  end

  def test_a_folder_of_more_than_twelve_files_is_found
    found = findings((1..13).to_h { |number| ["lab/lib/a/#{number}.rb", ""] })

    assert_equal ["failure: lab/lib/a/: 13 files, budget 12, limit 12"], found.map(&:to_s)
  end

  private

  def ruby_method(lines)
    "def long\n#{"  x\n" * (lines - 2)}end\n"
  end

  def findings(files)
    Dir.mktmpdir do |directory|
      files.each do |path, text|
        FileUtils.mkdir_p(File.join(directory, File.dirname(path)))
        File.write(File.join(directory, path), text)
      end
      Dir.chdir(directory) { Suite::Sizes.new.findings }
    end
  end
end
