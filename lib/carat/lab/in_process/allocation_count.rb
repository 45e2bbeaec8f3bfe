# frozen_string_literal: true

require_relative "../allocations"
require_relative "../allocations/site"
require_relative "../weigh/gem_names"
require_relative "program"

module Carat
  module Lab
    module InProcess
      # The program of `carat allocations`: counts what requests to the application allocate.
      class AllocationCount < Program
        # Seconds for the requests that are counted; those before may take as many.
        SECONDS = 10.0

        # The files whose allocations are those of the measurement.
        OWN = [File.expand_path("..", __dir__), File.expand_path("../../warmup/local_request.rb", __dir__)].freeze
        private_constant :OWN

        private

        def measure
          @done = 0
          @endpoints = endpoints
          count
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
          @number.times do |number|
            break if number >= @endpoints.size && now > deadline

            @endpoints[number % @endpoints.size].call
            yield
            @report.advance(number.fdiv(@number)) if (number % 10).zero?
          end
        end

        def result(interrupted:)
          rows = @recording ? Allocations.stop : []
          own = ->(file) { file.start_with?(*OWN) }
          { interrupted:, malloc: @malloc, requests: @done.to_i, paths: @targets,
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
      end
    end
  end
end
