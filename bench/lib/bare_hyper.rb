# frozen_string_literal: true

require_relative "executable"
require_relative "failure"

module Bench
  # The peer without Ruby: built from bench/hyper when first needed.
  module BareHyper
    ROOT = File.expand_path("../..", __dir__)
    TARGET = File.join(ROOT, "build", "bench")
    PROGRAM = File.join(TARGET, "release", "bare-hyper")

    # Builds the program; gives one sentence when that is not possible, or nil.
    # Where cargo is missing (a root file system without it), an earlier build serves.
    def self.obstacle
      return @obstacle if defined?(@obstacle)

      @obstacle = Executable.present?("cargo") ? build : earlier_build
    end

    # The version of hyper in Cargo.lock.
    def self.version
      File.read(File.join(ROOT, "Cargo.lock"))[/^name = "hyper"\nversion = "(.+)"$/, 1]
    end

    def self.build
      built = system("cargo", "build", "--quiet", "--release", "--locked", "-p", "bare-hyper",
                     "--target-dir", TARGET, chdir: ROOT, out: :err)
      "cargo could not build bare-hyper" unless built
    end

    def self.earlier_build
      "bare-hyper is not built and cargo is not on the PATH" unless File.executable?(PROGRAM)
    end

    private_class_method :build, :earlier_build
  end
end
