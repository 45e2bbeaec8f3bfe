# frozen_string_literal: true

module Bench
  # A program of bench/Cargo.toml, built when it is first needed.
  class RustProgram
    WORKSPACE = File.expand_path("../..", __dir__)
    TARGET = File.expand_path("../build/bench", WORKSPACE)

    attr_reader :path

    # The version of a crate in bench/Cargo.lock.
    def self.version(crate)
      File.read(File.join(WORKSPACE, "Cargo.lock"))[/^name = "#{crate}"\nversion = "(.+)"$/, 1]
    end

    def initialize(package)
      @package = package
      @path = File.join(TARGET, "release", package)
    end

    # Builds the program; one sentence when that is not possible, or nil. Without cargo (as in a root file system that
    # has none) an earlier build will do.
    def obstacle
      return @obstacle if defined?(@obstacle)

      @obstacle = Executable.present?("cargo") ? build : earlier_build
    end

    # Runs the program and returns its output; raises Failure when it fails.
    def run(*words)
      raise Failure, obstacle if obstacle

      output = IO.popen([path, *words.map(&:to_s)], &:read)
      raise Failure, "#{@package} failed" unless Process.last_status.success?

      output
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
