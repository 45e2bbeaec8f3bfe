# frozen_string_literal: true

require_relative "../allocations"
require_relative "../allocations/site"
require_relative "../library"
require_relative "../weigh/gem_names"
require_relative "program"

module Carat
  module Lab
    module InProcess
      # The program of `carat allocations`: counts what requests to the application allocate.
      class AllocationCount < Program
        # Seconds for the requests that are counted; those before may take as many.
        SECONDS = 10.0

        # So many requests run before, at least: the JIT has compiled then what they call.
        WARM_UP_REQUESTS = 130

        # The files whose allocations are those of the measurement.
        OWN = ["#{Library::OWN}/carat/", "#{Library::SERVER}/carat/warmup/local_request.rb"].freeze
        private_constant :WARM_UP_REQUESTS, :OWN

        private

        def measure
          @done = 0
          @endpoints = endpoints
          count
        end

        # The first requests fill caches, and let Ruby's heap grow to its size.
        def count
          @report.step("warm-up")
          request([@number, WARM_UP_REQUESTS].max) {} # rubocop:disable Lint/EmptyBlock
          @report.step("allocations")
          @malloc = Allocations.start
          @recording = true
          request(@number) { @done += 1 }
        end

        def request(count)
          deadline = now + SECONDS
          count.times do |number|
            break if number >= @endpoints.size && now > deadline

            @endpoints[number % @endpoints.size].call
            yield
            @report.advance(number.fdiv(count)) if (number % 10).zero?
          end
        end

        def result(interrupted:)
          rows = @recording ? Allocations.stop : []
          own = ->(file) { file.start_with?(*OWN) }
          { interrupted:, jit: Processes::JIT.name, malloc: @malloc, requests: @done.to_i, paths: @targets,
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
