# frozen_string_literal: true

require "etc"
require "fileutils"
require "open3"
require "rbconfig"

# Builds and runs the fuzz targets, two at a time on two processors.
#
#   ruby script/suite/fuzz.rb                        # every target for 2 s
#   ruby script/suite/fuzz.rb guard 600              # one target for 10 min
#   ruby script/suite/fuzz.rb guard fuzz/artifacts/guard/crash-...   # one input once more
module Suite
  # The fuzz targets, with AddressSanitizer if this Rust has its runtime.
  class Fuzz
    SECONDS = 2
    MANIFEST = "fuzz/Cargo.toml"
    # What libFuzzer needs to see which code an input reaches.
    COVERAGE = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 " \
               "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
    # libdeflate is linked from several object files that share a table. The quarantine would be most of the memory.
    ASAN_OPTIONS = "detect_odr_violation=0:quarantine_size_mb=32"
    LIMITS = %w[-max_len=4096 -timeout=30 -rss_limit_mb=1500].freeze
    # Lines of a report that follow what went wrong.
    REPORT = /^.*(?:panicked at|ERROR: AddressSanitizer|ERROR: libFuzzer|ALARM:).*(?:\n.+){0,6}/
    INPUT = /Test unit written to (\S+)/

    def self.targets
      Dir["fuzz/src/bin/*.rs"].map { |path| File.basename(path, ".rs") }.sort
    end

    # @return [Boolean] whether no input made a target fail
    def run(targets, seconds)
      return false unless build

      queue = targets.each_with_object(Queue.new) { |target, all| all << target }.close
      outcomes = Array.new(Etc.nprocessors.clamp(1, targets.size)) do
        Thread.new { Array.new(targets.size) { queue.pop }.compact.map { |target| explore(target, seconds) } }
      end
      outcomes.flat_map(&:value).all?
    end

    # Runs one input once more, with its whole report.
    def replay(target, path)
      build && system({ "ASAN_OPTIONS" => ASAN_OPTIONS }, binary(target), path)
    end

    private

    def build
      puts "building #{asan? ? "with" : "without"} AddressSanitizer"
      flags = [COVERAGE, ("-Zsanitizer=address" if asan?)].compact.join(" ")
      env = { "RUSTFLAGS" => flags, "RUSTC_BOOTSTRAP" => ("1" if asan?) }.compact
      # A named target keeps the flags away from build scripts, which run on their own.
      system(env, "cargo", "build", "--manifest-path", MANIFEST, "--locked", "--release", "--quiet",
             "--target", host, "--target-dir", directory)
    end

    # Runs a target from its corpus; what it finds of interest stays in tmp/ for the next run.
    def explore(target, seconds)
      found, artifacts = "tmp/fuzz/#{target}", "fuzz/artifacts/#{target}"
      FileUtils.mkdir_p([found, artifacts])
      command = [binary(target), *LIMITS, "-max_total_time=#{seconds}", "-artifact_prefix=#{artifacts}/",
                 found, "fuzz/corpus/#{target}"]
      output, status = Open3.capture2e({ "ASAN_OPTIONS" => ASAN_OPTIONS }, *command)
      puts status.success? ? success(target, output) : failure(target, output.scrub)
      status.success?
    end

    def success(target, output)
      runs, time = output.scrub.match(/^Done (\d+) runs in (\d+) second/)&.captures
      "#{target}: #{runs} inputs in #{time} s, none failed"
    end

    def failure(target, output)
      report = output[REPORT] || output.lines.last(20).join
      path = output[INPUT, 1]
      "#{target}: FAILED on #{path || "its corpus"}\n#{report}\n" \
        "once more: rake fuzz[#{target},#{path || "INPUT"}]"
    end

    def binary(target)
      "#{directory}/#{host}/release/#{target}"
    end

    def directory
      "#{ENV.fetch("CARGO_TARGET_DIR", "target")}/fuzz"
    end

    def host
      @host ||= `rustc -vV`[/^host: (.+)$/, 1]
    end

    def asan?
      @asan ||= Dir["#{`rustc --print target-libdir`.chomp}/librustc*_rt.asan.a"].any?
    end
  end
end

if $PROGRAM_NAME == __FILE__
  $stdout.sync = true
  target, limit = ARGV.map { |argument| argument unless argument.empty? }
  unknown = target && !Suite::Fuzz.targets.include?(target)
  abort "no fuzz target #{target}; there are #{Suite::Fuzz.targets.join(", ")}" if unknown
  exit Suite::Fuzz.new.replay(target, limit) if limit && File.file?(limit)
  exit Suite::Fuzz.new.run(target ? [target] : Suite::Fuzz.targets, Integer(limit || Suite::Fuzz::SECONDS))
end
