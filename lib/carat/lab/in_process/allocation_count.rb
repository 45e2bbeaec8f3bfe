# frozen_string_literal: true

require_relative "../../processes/boot_failure"
require_relative "../allocations"
require_relative "../allocations/site"
require_relative "../lab_error"
require_relative "../weigh/gem_names"
require_relative "application"

module Carat
  module Lab
    module InProcess
      # The program of `carat allocations`: counts what requests to the application allocate.
      class AllocationCount
        # Seconds for the requests that are counted; those before may take as many.
        SECONDS = 10.0

        # The files whose allocations are those of the measurement.
        OWN = [File.expand_path("..", __dir__), File.expand_path("../../warmup/local_request.rb", __dir__)].freeze
        private_constant :OWN

        # Runs in a new process. `requests` and `paths` are numbers: the first words are paths, the others those of
        # Flags#words.
        def self.start(report, requests, paths, *words)
          count = Integer(paths, 10)
          report.result(new(report, Integer(requests, 10), words.first(count), words.drop(count)).run)
        end

        def initialize(report, requests, targets, words)
          @report = report
          @requests = requests
          @targets = targets
          @words = words
          @done = 0
        end

        # Returns a Hash for JSON: `error`, or what AllocationReport reads.
        def run
          load
          count
          result(interrupted: false)
        rescue Interrupt
          result(interrupted: true)
        rescue LabError => e
          { error: e.message }
        rescue Exception => e # rubocop:disable Lint/RescueException -- the command reports whatever it is
          { error: Processes::BootFailure.new(e).to_s }
        end

        private

        def load
          application = Application.new(@words)
          @endpoints = @targets.map { |target| application.endpoint(target) }
        end

        # The first requests fill caches, and let Ruby's heap grow to its size.
        def count
          @report.step("warm-up")
          request {} # rubocop:disable Lint/EmptyBlock
          @report.step("allocations")
          @malloc = Allocations.start
          @recording = true
          request { @done += 1 }
        end

        def request
          deadline = now + SECONDS
          @requests.times do |number|
            break if number >= @endpoints.size && now > deadline

            @endpoints[number % @endpoints.size].call
            yield
            @report.advance(number.fdiv(@requests)) if (number % 10).zero?
          end
        end

        def result(interrupted:)
          rows = @recording ? Allocations.stop : []
          own = ->(file) { file.start_with?(*OWN) }
          { interrupted:, malloc: @malloc, requests: @done, paths: @targets,
            elsewhere: rows.sum { |file, _, _, objects| file == false ? objects : 0 },
            sites: Allocations::Site.gather(rows, &own).map { |site| describe(site) } }
        end

        def describe(site)
          file = site.file && File.expand_path(site.file)
          { **site.to_h, file:, gem: file ? names.of(file) : Weigh::GemNames::OTHER }
        end

        def names
          @names ||= Weigh::GemNames.new(Dir.pwd)
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
