# frozen_string_literal: true

require "minitest/autorun"
require "rbconfig"
require_relative "../support/named_constants"

# Whether each file of the server and of the lab requires what it uses, and what users see of it.
class RequiresTest < Minitest::Test
  LIBRARIES = %w[lib lab/lib].map { |path| File.expand_path("../../#{path}", __dir__) }.freeze
  FILES = LIBRARIES.flat_map { |library| Dir["carat{,/**/*}.rb", base: library].sort }.freeze

  # Needs the async gem, which loads it, or RSpec.
  FOREIGN = ["carat/parts/fibers/scheduler/task_tree.rb",
             *("carat/lab/rspec.rb" if Gem::Specification.find_all_by_name("rspec-core").empty?)].freeze

  # Its constant is in the compiled extension.
  COMPILED = "native.rb"

  # What applications may name. Whatever is added here is documented for them.
  PUBLIC = %i[Cable FiberPool FormFile IncompleteBody Native NativePath REPOSITORY Reactor Scheduler SchedulerError
              StreamInput VERSION].freeze

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
    @constants ||= Support::NamedConstants.new(*LIBRARIES.map { |library| File.join(library, "carat") })
  end

  def run_ruby(program)
    flags = LIBRARIES.map { |library| "-I#{library}" }
    IO.popen([RbConfig.ruby, *flags, "-e", program, *(FILES - FOREIGN)], err: %i[child out], &:read)
  end
end
