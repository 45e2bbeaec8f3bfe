# frozen_string_literal: true

require_relative "doctor/allocator"
require_relative "doctor/build"
require_relative "doctor/fibers"
require_relative "doctor/huge_pages"
require_relative "doctor/memory_limit"
require_relative "doctor/open_files"
require_relative "doctor/overcommit"
require_relative "doctor/ruby_build"
require_relative "doctor/spool_file"
require_relative "doctor/spool_memory"
require_relative "doctor/spool_room"

module Carat
  module CLI
    # Looks at the machine as a configuration would use it. A check is a class whose instances are made from the
    # Configuration and answer `finding`; CHECKS is the only place that knows them all.
    class Doctor
      CHECKS = [
        Build, RubyBuild, Allocator, MemoryLimit, Overcommit, HugePages, SpoolFile, SpoolMemory, SpoolRoom,
        OpenFiles, Fibers
      ].freeze

      # Returns a Finding of each check, in the order of CHECKS.
      attr_reader :findings

      # `checks` are classes like those in CHECKS.
      def initialize(configuration, checks: CHECKS)
        @findings = checks.map { |check| check.new(configuration).finding }
      end

      # Whether there is no problem; a warning is none.
      def healthy?
        findings.none?(&:problem?)
      end
    end
  end
end
