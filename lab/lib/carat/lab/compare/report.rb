# frozen_string_literal: true

require_relative "looks"

module Carat
  module Lab
    module Compare
      # What `carat compare` has found, as a Hash for JSON: `schema` says which version of
      # lab/docs/compare.md describes it.
      class Report
        # Rises when a reader of an older version would misunderstand.
        SCHEMA = 1

        # `rounds` are pairs of Samples, `findings` a Finding for each quantity, `fewest` the rounds before there are
        # intervals, `passed` the seconds that all took, and `memory` a Hash with what the applications weigh.
        def initialize(choices, plan, rounds, findings, fewest:, passed:, interrupted:, memory:)
          @choices = choices
          @plan = plan
          @rounds = rounds
          @findings = findings
          @fewest = fewest
          @passed = passed
          @interrupted = interrupted
          @memory = memory
        end

        # Returns the Hash.
        def to_h
          { "schema" => SCHEMA, "verdict" => verdict, "interrupted" => @interrupted, "setups" => setups,
            "path" => @plan.path, "seconds" => @plan.seconds, "connections" => @plan.connections,
            "rounds" => @rounds.size, "rounds_needed" => needed, "budget_needed" => budget,
            "confidence" => 1 - Looks::FALSE_ALARMS,
            "quantities" => @findings.map(&:report), **@memory,
            "samples" => @rounds.map { |pair| pair.map(&:report) } }
        end

        private

        # Nil before there are enough rounds. A wide interval may hide a difference.
        def verdict
          judgments = @findings.map(&:differs?).compact
          return if judgments.empty?
          return "different" if judgments.any?

          @findings.all?(&:settled?) ? "equal" : "not known"
        end

        # The rounds after which there would be a verdict.
        def needed
          [@fewest, *@findings.filter_map(&:rounds_needed)].max
        end

        # The seconds that they would take; nil before the first round.
        def budget
          (@passed / @rounds.size * needed).ceil unless @rounds.empty?
        end

        def setups
          @choices.map { |choice| { "name" => choice.name, "server" => choice.server, "choice" => choice.description } }
        end
      end
    end
  end
end
