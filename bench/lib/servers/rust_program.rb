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

    # A program that runs; report: makes of its output what `finish` returns.
    Running = Struct.new(:name, :pipe, :report) do
      # Waits for the end; raises Failure when the program failed.
      def finish
        output = pipe.read
        pipe.close
        Process.last_status.success? ? report.call(output) : raise(Failure, "#{name} failed")
      end
    end

    # Starts the program, and returns it as Running.
    def start(*words, &report)
      raise Failure, obstacle if obstacle

      Running.new(@name, IO.popen([path, *words.map(&:to_s)]), report)
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
