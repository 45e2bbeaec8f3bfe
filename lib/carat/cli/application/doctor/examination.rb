# frozen_string_literal: true

require_relative "allocator"
require_relative "build"
require_relative "certificates"
require_relative "fibers"
require_relative "huge_pages"
require_relative "memory_limit"
require_relative "open_files"
require_relative "overcommit"
require_relative "ruby_build"
require_relative "spool/spool_file"
require_relative "spool/spool_memory"
require_relative "spool/spool_room"
require_relative "threads"

module Carat
  module CLI
    class Doctor
      # Checks the machine for a configuration. A check is a class whose instances are made from the Configuration and
      # have a `finding`; CHECKS is the only place that lists them all.
      class Examination
        # Every check, in the order of the findings.
        CHECKS = [
          Build, RubyBuild, Allocator, MemoryLimit, Overcommit, HugePages, SpoolFile, SpoolMemory, SpoolRoom,
          OpenFiles, Certificates, Fibers, Threads
        ].freeze

        # Returns the Finding of each check, in the order of CHECKS.
        attr_reader :findings

        # `checks` are classes like those in CHECKS.
        def initialize(configuration, checks: CHECKS)
          @findings = checks.map { |check| check.new(configuration).finding }
        end

        # Whether there is no problem; warnings are allowed.
        def healthy?
          findings.none?(&:problem?)
        end
      end
    end
  end
end
