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

    def initialize(name)
      @name = name
      @path = File.join(TARGET, "release", name)
    end

    # Builds the program; one sentence when that is not possible, or nil. Without cargo (as in a root file system that
    # has none) an earlier build will do.
    def obstacle
      return @obstacle if defined?(@obstacle)

      @obstacle = Executable.present?("cargo") ? build : earlier_build
    end

    # Runs the program and returns its output; raises Failure when it fails.
    def run(*words) = start(*words).call

    # Starts the program, and returns what waits for its end and returns its output.
    def start(*words)
      raise Failure, obstacle if obstacle

      pipe = IO.popen([path, *words.map(&:to_s)])
      lambda do
        output = pipe.read
        pipe.close
        Process.last_status.success? ? output : raise(Failure, "#{@name} failed")
      end
    end

    private

    def build
      built = system("cargo", "build", "--quiet", "--release", "--locked", "--bin", @name,
                     "--target-dir", TARGET, chdir: WORKSPACE, out: :err)
      "cargo could not build #{@name}" unless built
    end

    def earlier_build
      "#{@name} is not built and cargo is not on the PATH" unless File.executable?(path)
    end
  end
end
