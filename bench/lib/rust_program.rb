# frozen_string_literal: true

require_relative "executable"
require_relative "failure"

module Bench
  # A program of the benchmark's own in Rust: a package of bench/Cargo.toml, built when first needed.
  class RustProgram
    WORKSPACE = File.expand_path("..", __dir__)
    TARGET = File.expand_path("../build/bench", WORKSPACE)

    attr_reader :path

    def initialize(package)
      @package = package
      @path = File.join(TARGET, "release", package)
    end

    # Builds the program; gives one sentence when that is not possible, or nil.
    # Where cargo is missing (a root file system without it), an earlier build serves.
    def obstacle
      return @obstacle if defined?(@obstacle)

      @obstacle = Executable.present?("cargo") ? build : earlier_build
    end

    # Runs the program and gives what it prints; raises Failure when it fails.
    def run(*words)
      raise Failure, obstacle if obstacle

      output = IO.popen([path, *words.map(&:to_s)], &:read)
      raise Failure, "#{@package} failed" unless Process.last_status.success?

      output
    end

    # The version of a crate in bench/Cargo.lock.
    def self.version(crate)
      File.read(File.join(WORKSPACE, "Cargo.lock"))[/^name = "#{crate}"\nversion = "(.+)"$/, 1]
    end

    private

    def build
      built = system("cargo", "build", "--quiet", "--release", "--locked", "-p", @package,
                     "--target-dir", TARGET, chdir: WORKSPACE, out: :err)
      "cargo could not build #{@package}" unless built
    end

    def earlier_build
      "#{@package} is not built and cargo is not on the PATH" unless File.executable?(path)
    end
  end
end
