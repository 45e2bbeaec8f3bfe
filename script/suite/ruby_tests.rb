# frozen_string_literal: true

require "rbconfig"
require_relative "step"

module Suite
  # Ruby tests in one process. Those that fail can be repeated: on a busy machine, a test fails now and then because a
  # process did not run in time.
  class RubyTests < Step
    RUBY = [RbConfig.ruby, "-Itest", "-Ilib"].freeze
    EACH_FILE = "ARGV.each { |path| require File.expand_path(path) }"
    FAILED_TEST = /\A +\d+\) (?:Failure|Error):\n(?<name>(?<group>[\w:]+)#[^\n]+?)(?: \[[^\n]*\])?:$/
    # So many failures are no accident.
    REPEATED_LIMIT = 20

    # @param files [Array<String>] their paths
    # @param env [Hash{String => String, nil}]
    def initialize(name, files, env: {})
      @files = files
      @env = env
      super(name, env, *RUBY, "-e", EACH_FILE, "--", *files, reader: :minitest)
    end

    # Runs each test that failed once more, alone. What passes then counts as passed.
    # @return [Array<String>] the paragraphs of the output about tests that failed at first and passed when repeated
    def repeat(out: $stdout)
      all = failures
      return [] if all.size > REPEATED_LIMIT

      passed, @still_failed = all.partition { |paragraph| passes_alone?(paragraph, out) }
      @tally = Tally.new(tally.passed + passed.size, tally.failed - passed.size, tally.skipped)
      passed
    end

    def failures
      @still_failed || super
    end

    private

    def passes_alone?(paragraph, out)
      failed = FAILED_TEST.match(paragraph)
      file = failed && file_of(failed[:group])
      return false unless file

      name = failed[:name]
      again = Step.new("#{name}, repeated alone", @env, *RUBY, file, "-n", name, reader: :minitest)
      again.run(out: out) == Tally.new(1, 0, 0)
    end

    def file_of(group)
      definition = /^\s*class #{group.split("::").last}\b/
      @files.find { |file| File.read(file).match?(definition) }
    end
  end
end
