# frozen_string_literal: true

require "json"
require "minitest"

# Runs Ruby tests. The arguments are the file for their results, the files of the tests, and options of minitest. The
# results do not come with the output, in which a test may quote those of other tests.
module Suite
  # Collects what each test did, and writes it as JSON when all have run.
  class ResultFile < Minitest::AbstractReporter
    # @param path [String]
    # @param of_all [Boolean] whether all tests of the files are to run
    def initialize(path, of_all:)
      super()
      @path = path
      @of_all = of_all
      @passed = @skipped = 0
      @failures = []
      @seconds = Hash.new(0)
    end

    # Called after each test.
    def record(result)
      @seconds[result.source_location.first.delete_prefix("#{Dir.pwd}/")] += result.time
      if result.skipped? then @skipped += 1
      elsif result.passed? then @passed += 1
      else @failures << { test: "#{result.class_name}##{result.name}", text: utf8(result.to_s) }
      end
    end

    # Called after the last one, or when the run is interrupted, which minitest calls a success.
    def report
      left = Minitest::Runnable.runnables.sum { |it| it.runnable_methods.size } - @passed - @skipped - @failures.size
      @failures << { test: "all tests", text: "#{left} tests did not run" } if @of_all && left.positive?
      File.write(@path, JSON.generate({ passed: @passed, skipped: @skipped, failures: @failures, seconds: @seconds }))
    end

    private

    # A message may quote any bytes.
    def utf8(text)
      text.dup.force_encoding(Encoding::UTF_8).scrub
    end
  end
end

results = Suite::ResultFile.new(ARGV.shift, of_all: !ARGV.include?("-n"))
Minitest.extensions << "result_file"
Minitest.define_singleton_method(:plugin_result_file_init) { |_options| reporter << results }

files = ARGV.grep(/\.rb\z/)
ARGV.replace(ARGV - files)
files.each { |path| require File.expand_path(path) }
