# frozen_string_literal: true

require "minitest/autorun"
require "rbconfig"
require_relative "../support/named_constants"

# Whether each file of the library requires what it uses.
class RequiresTest < Minitest::Test
  LIBRARY = File.expand_path("../../lib", __dir__)
  FILES = Dir["carat{,/**/*}.rb", base: LIBRARY].sort.freeze

  # Needs the async gem, which loads it.
  FOREIGN = "carat/scheduler/task_tree.rb"

  # One process for each file, forked from one that has loaded nothing.
  PROGRAM = <<~'RUBY'
    ARGV.each do |file|
      Process.wait(fork { require file })
      puts file unless $?.success?
    end
  RUBY

  def test_each_file_can_be_loaded_alone
    words = [RbConfig.ruby, "-I", LIBRARY, "-e", PROGRAM, *(FILES - [FOREIGN])]

    assert_equal "", IO.popen(words, err: %i[child out], &:read)
  end

  def test_each_file_requires_the_files_of_the_constants_that_it_names
    root = File.join(LIBRARY, "carat")
    constants = Support::NamedConstants.new(root)
    missing = Dir["**/*.rb", base: root].to_h { |path| [path, constants.missing(path)] }

    assert_empty missing.reject { |_path, files| files.empty? }
  end
end
