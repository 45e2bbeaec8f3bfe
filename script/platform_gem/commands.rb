# frozen_string_literal: true

require "open3"
require "rbconfig"

module PlatformGem
  # Runs programs of a gem with this Ruby, in the environment `@env`, and prints how long they took. `@home` is the
  # directory into which the gem is installed, or nil for the machine's own.
  module Commands
    private

    # Returns the output.
    def run_command(*words)
      output, status = Open3.capture2e(@env, *command(words))
      abort "#{words.join(" ")}:\n#{output}" unless status.success?
      output
    end

    # The words with which this Ruby runs a program, of the gem that is tried or of this Ruby.
    def command(words)
      program = words.first
      program = find(program) unless program.include?("/")
      [RbConfig.ruby, program, *words.drop(1)]
    end

    def find(program)
      directories = [*(File.join(@home, "bin") if @home), RbConfig::CONFIG.fetch("bindir"), Gem.bindir]
      directories.map { |directory| File.join(directory, program) }.find { |path| File.file?(path) } ||
        abort("#{program} is not installed in #{directories.join(", ")}")
    end

    def seconds
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      yield
      Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
    end

    def report(step, seconds)
      puts format("Ruby %-8s %-50s %5.2f s", RUBY_VERSION, step, seconds)
    end
  end
end
