# frozen_string_literal: true

require "carat/config/config_error"
require "carat/processes/boot_failure"
require_relative "../lab_error"
require_relative "application"

module Carat
  module Lab
    module InProcess
      # A program that loads the application and requests paths from it. A subclass has `measure`, which may be
      # interrupted, and `result`, a Hash for JSON about what is known.
      class Program
        # Runs in a new process. `number` and `paths` are numbers: the first words are so many paths, the others are
        # those of Flags#words.
        def self.start(report, number, paths, *words)
          count = Integer(paths, 10)
          report.result(new(report, Integer(number, 10), words.first(count), words.drop(count)).run)
        end

        # `report` is a ProcessReport; what `number` means is up to the subclass.
        def initialize(report, number, targets, words)
          @report = report
          @number = number
          @targets = targets
          @words = words
        end

        # Returns the result, or a Hash with an `error`.
        def run
          measure
          result(interrupted: false)
        rescue Interrupt
          result(interrupted: true)
        rescue LabError, Config::ConfigError => e
          { error: e.message }
        rescue Exception => e # rubocop:disable Lint/RescueException -- the command reports whatever it is
          { error: Processes::BootFailure.new(e).to_s }
        end

        private

        # Loads the application and returns the endpoint of each path.
        def endpoints
          application = Application.new(@words)
          @targets.map { |target| application.endpoint(target) }
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
