# frozen_string_literal: true

require_relative "../interrupts"
require_relative "report"
require_relative "run"
require_relative "server"
require_relative "site_search"
require_relative "verdict"

module Carat
  module Lab
    module Leak
      # The whole measurement: a run, a second one that confirms what the first says, and the search for the place.
      class Study
        # `words` are those of Flags#words, `targets` the paths to request.
        def initialize(words, targets, plan, progress)
          @words = words
          @targets = targets
          @plan = plan
          @progress = progress
          @runs = []
          @verdicts = []
        end

        # Returns a Report. Raises LabError. An Interrupt ends the measurement; the report then says what is known.
        def call
          Interrupts.raising { measure }
          report
        rescue Interrupt
          report(interrupted: true)
        ensure
          @progress.clear
        end

        private

        def measure
          @verdicts << judge("first run")
          return if @verdicts.first.name == Verdict::CLEAN

          @verdicts << judge("second run")
          others = @verdicts.map(&:name).uniq - Verdict::PLACED
          @sites = search("trace") if others.empty?
          @sites = search_gaps if others == [Verdict::BETWEEN]
        end

        def judge(name)
          Server.open(@words) do |server|
            run = Run.new(server, @targets, @runs.empty? ? @plan : @runs.first.plan, @progress)
            @runs << run
            run.call(name)
            Verdict.new(run.censuses)
          end
        end

        def search(trace)
          Server.open(@words) do |server|
            SiteSearch.new(server, @targets, @runs.first.plan.requests, @progress, trace:).call
          end
        end

        # Returns nil when no blocks with free memory between them are known: where it lies then is not said.
        def search_gaps
          sites = search("trace_gaps")
          sites unless sites.empty?
        end

        def report(interrupted: false)
          Report.new(@runs, @verdicts, sites: @sites, interrupted:)
        end
      end
    end
  end
end
