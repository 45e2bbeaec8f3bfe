# frozen_string_literal: true

require "json"
require "rbconfig"
require "tempfile"
require_relative "step"

module Suite
  # Ruby tests in one process. Those that fail can be repeated: on a busy machine, a test fails now and then because a
  # process did not run in time.
  class RubyTests < Step
    RUBY = [RbConfig.ruby, *%w[-Itest -Ilab/test -Ilib -Ilab/lib], File.expand_path("ruby_program.rb", __dir__)].freeze
    # So many failures are no accident.
    REPEATED_LIMIT = 10
    # How long one test may take alone, and all of them.
    SECONDS = 4 * 60
    ALL_SECONDS = 8 * 60
    # The exit status of minitest when tests have failed. What ends otherwise has more wrong with it.
    FAILURES = 1

    # @param files [Array<String>] their paths
    # @param env [Hash{String => String, nil}]
    # @param only [String] a test by its class and name, such as "LaneTest#test_it_opens"; nil for all
    # @param within [Numeric] how many seconds it may take
    def initialize(name, files, env: {}, only: nil, within: DEADLINE_SECONDS)
      @files = files
      @env = env
      @results = Tempfile.new("results")
      super(name, env, *RUBY, @results.path, *files, *(["-n", only] if only), within:)
    end

    # Runs each test that failed once more, alone. What passes then counts as passed.
    # @return [Array<String>] the paragraphs about tests that failed at first and passed when repeated
    def repeat(out: $stdout)
      all = failed_tests
      return [] unless all.any? && all.size <= REPEATED_LIMIT && @status&.exitstatus == FAILURES

      deadline = now + ALL_SECONDS
      passed, left = all.partition { |failure| now < deadline && passes_alone?(failure.fetch("test"), out) }
      @tally = Tally.new(tally.passed + passed.size, left.size, tally.skipped)
      results["failures"] = left
      paragraphs(passed)
    end

    # How long the tests of each file took.
    # @return [Hash{String => Float}] seconds by path
    def seconds
      results ? results.fetch("seconds") : {}
    end

    private

    def count
      results && Tally.new(results.fetch("passed"), results.fetch("failures").size, results.fetch("skipped"))
    end

    def what_failed
      paragraphs(failed_tests)
    end

    def failed_tests
      results ? results.fetch("failures") : []
    end

    def paragraphs(failures)
      failures.map { |failure| Failures.short(failure.fetch("text").chomp) }
    end

    # What the process has written at its end; nil if it died before.
    def results
      @parsed ||= JSON.parse(File.binread(@results.path))
    rescue JSON::ParserError
      nil
    end

    def passes_alone?(test, out)
      again = RubyTests.new("#{test}, repeated alone", @files, env: @env, only: test, within: SECONDS)
      again.run(out:) == Tally.new(1, 0, 0)
    end
  end
end
