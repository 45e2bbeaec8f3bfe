# frozen_string_literal: true

require "minitest/autorun"
require "rbconfig"
require_relative "../support/named_constants"

# Whether each file of the library requires what it uses, and what users see of it.
class RequiresTest < Minitest::Test
  LIBRARY = File.expand_path("../../lib", __dir__)
  FILES = Dir["carat{,/**/*}.rb", base: LIBRARY].sort.freeze

  # Needs the async gem, which loads it.
  FOREIGN = "carat/scheduler/task_tree.rb"

  # Its constant is in the compiled extension.
  COMPILED = "native.rb"

  # What applications may name. Whatever is added here is documented for them.
  PUBLIC = %i[FiberPool FormFile IncompleteBody Native NativePath Reactor Scheduler SchedulerError StreamInput
              VERSION].freeze

  # One process for each file, forked from one that has loaded nothing.
  ALONE = <<~'RUBY'
    ARGV.each do |file|
      Process.wait(fork { require file })
      puts file unless $?.success?
    end
  RUBY

  # Prints the constants of Carat once everything is loaded.
  SURFACE = <<~'RUBY'
    require "carat"
    ARGV.each { |file| require file }
    print Carat.constants.sort.join(" ")
  RUBY

  def test_each_file_can_be_loaded_alone
    assert_equal "", run_ruby(ALONE)
  end

  def test_each_file_requires_the_files_of_the_constants_that_it_names
    missing = constants.paths.to_h { |path| [path, constants.missing(path)] }

    assert_empty missing.reject { |_path, files| files.empty? }
  end

  def test_each_file_defines_the_constant_of_its_name
    assert_empty constants.paths.reject { |path| path == COMPILED || constants.defined_in?(path) }
  end

  def test_users_see_only_the_public_constants
    assert_equal PUBLIC.join(" "), run_ruby(SURFACE)
  end

  private

  def constants
    @constants ||= Support::NamedConstants.new(File.join(LIBRARY, "carat"))
  end

  def run_ruby(program)
    IO.popen([RbConfig.ruby, "-I", LIBRARY, "-e", program, *(FILES - [FOREIGN])], err: %i[child out], &:read)
  end
end
