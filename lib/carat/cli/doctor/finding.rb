# frozen_string_literal: true

module Carat
  module CLI
    class Doctor
      # What one check has found: a level (:ok, :warning or :problem), what it is about, and a sentence.
      Finding = Struct.new(:level, :subject, :sentence) do
        def self.ok(...)
          new(:ok, ...)
        end

        def self.warning(...)
          new(:warning, ...)
        end

        def self.problem(...)
          new(:problem, ...)
        end

        def problem?
          level == :problem
        end

        # The line that a user reads, such as `warning  spool_dir: /dev/shm is a tmpfs`.
        def to_s
          "#{level.to_s.ljust(7)}  #{subject}: #{sentence}"
        end
      end
    end
  end
end
