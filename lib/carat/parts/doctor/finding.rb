# frozen_string_literal: true

module Carat
  module CLI
    class Doctor
      # The result of a check: a level (:ok, :warning or :problem), a subject, and a sentence.
      Finding = Struct.new(:level, :subject, :sentence) do
        # Returns a Finding that needs no action.
        def self.ok(...)
          new(:ok, ...)
        end

        # Returns a Finding about a setting that may do harm under load.
        def self.warning(...)
          new(:warning, ...)
        end

        # Returns a Finding that makes `carat doctor` fail.
        def self.problem(...)
          new(:problem, ...)
        end

        # Whether the level is :problem.
        def problem?
          level == :problem
        end

        # Returns the printed line, such as `warning  spool_dir: /dev/shm is a tmpfs`.
        def to_s
          "#{level.to_s.ljust(7)}  #{subject}: #{sentence}"
        end
      end
    end
  end
end
