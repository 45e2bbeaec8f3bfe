# frozen_string_literal: true

require_relative "allocator"
require_relative "build"
require_relative "finding"
require_relative "memory/full_collections"
require_relative "memory/huge_pages"
require_relative "memory/memory_limit"
require_relative "open_files"
require_relative "memory/overcommit"
require_relative "puma_hooks"
require_relative "memory/restart_room"
require_relative "ruby_build"
require_relative "spool/spool_file"
require_relative "spool/spool_memory"
require_relative "spool/spool_room"
require_relative "threads"
require_relative "../../cli/command_error"
require_relative "../../cli/subcommand"
require_relative "../../native_path"
require_relative "../../parts"

module Carat
  module CLI
    # `carat doctor`. A check is a class whose objects are made from the Configuration and have a method `finding`.
    class Doctor
      include Subcommand

      # The checks of the core, in the order of the findings.
      CHECKS = [
        Build, RubyBuild, Allocator, MemoryLimit, Overcommit, HugePages, SpoolFile, SpoolMemory, SpoolRoom,
        OpenFiles, Threads, PumaHooks, FullCollections, RestartRoom
      ].freeze

      # The words after `Usage: carat` in the help.
      USAGE = "doctor [options] [config.ru]"

      # The sentence in the list of subcommands.
      SUMMARY = "Validates the configuration, checks this machine, and exits."

      # Prints a line for each check, and fails when there is a problem. Raises ConfigError.
      def run
        elsewhere = NativePath.elsewhere
        raise CommandError, "carat: #{elsewhere}" if elsewhere

        findings = [*CHECKS, *Parts.flat_map(&:doctor_checks)].map { |check| check.new(configuration).finding }
        say(Finding.ok("configuration", configuration_summary), *findings)
        findings.none?(&:problem?) ? SUCCESS : FAILURE
      end
    end
  end
end
