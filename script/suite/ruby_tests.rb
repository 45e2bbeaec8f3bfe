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
    REPEATED_LIMIT = 10
    # How long one test may take alone, and all of them.
    SECONDS = 4 * 60
    ALL_SECONDS = 8 * 60
    # The exit status of minitest when tests have failed. What ends otherwise has more wrong with it.
    FAILURES = 1

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
      return [] unless all.size == tally.failed && all.size <= REPEATED_LIMIT && @status&.exitstatus == FAILURES

      deadline = now + ALL_SECONDS
      passed, @still_failed = all.partition { |paragraph| now < deadline && passes_alone?(paragraph, out) }
      @tally = Tally.new(tally.passed + passed.size, tally.failed - passed.size, tally.skipped)
      passed
    end

    def failures
      @still_failed || super
    end

    private

    def passes_alone?(paragraph, out)
      failed = FAILED_TEST.match(paragraph)
      return false unless failed

      name = failed[:name]
      again = Step.new("#{name}, repeated alone", @env, *RUBY, *required(failed[:group]), "-e", "", "--", "-n", name,
                       reader: :minitest, within: SECONDS)
      again.run(out: out) == Tally.new(1, 0, 0)
    end

    # Options that load the files in which the class may be.
    def required(group)
      definition = /^\s*class #{group.split("::").last}\b/
      files = @files.select { |file| File.read(file).match?(definition) }
      files.flat_map { |file| ["-r", File.expand_path(file)] }
    end
  end
end
