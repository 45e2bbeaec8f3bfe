# frozen_string_literal: true

require "stringio"
require "carat/native"
require_relative "../leak/plan"
require_relative "../leak/run"
require_relative "../leak/site_search"
require_relative "../progress"
require_relative "block_calls"

module Carat
  module Lab
    module InTest
      # Rounds of calls of a block, and the lines at which memory then grows.
      class Rounds
        # Rounds of a run.
        ROUNDS = 11

        # Fewer have no interval in each half.
        FEWEST = 8

        # Seconds for the rounds of a run.
        SECONDS = 2.0

        # No round has fewer calls unless you say so.
        SMALLEST = 11

        # Calls that show how fast the block is.
        TRIAL = 11

        # Rounds of a larger run have so many times the calls.
        LARGER = 3

        # The places that a message names.
        SITES = 5

        # What a message says without jemalloc.
        UNSEEN = "Carat's jemalloc is not preloaded: memory of C counts, but has no line."
        private_constant :FEWEST, :SMALLEST, :TRIAL, :LARGER, :SITES

        # `calls` are those of a round, nil where the speed of the block decides. Raises ArgumentError.
        def initialize(block, calls: nil, rounds: ROUNDS, seconds: SECONDS)
          raise ArgumentError, "no block given" unless block
          raise ArgumentError, "rounds: #{rounds} is less than #{FEWEST}" if rounds < FEWEST
          raise ArgumentError, "calls: #{calls} is less than 1" if calls && calls < 1

          @calls = BlockCalls.new(block)
          @seconds = seconds
          @rounds = rounds
          @plan = plan(calls)
        end

        # Makes a run, and returns it.
        def run
          carry_out(@plan).tap { |run| @plan = run.plan }
        end

        # Makes a run of larger rounds after the first, and returns it: memory that a call takes grows with them, what
        # belongs to a round does not.
        def larger_run
          carry_out(plan(@plan.requests * LARGER))
        end

        # Returns the lines at which memory grows, as Leak::Sites.
        def sites
          Leak::SiteSearch.new(@calls, [], @plan.requests, progress, seconds: @seconds).call
        end

        # Returns the lines of a message about these Sites.
        def self.describe(sites)
          places = sites.first(SITES).flat_map do |site|
            head = format("%10.1f bytes and %.2f objects a call: %s", site.bytes_per_request, site.objects_per_request,
                          site.place)
            [head, *[site.growth, *site.reasons].map { |line| "#{" " * 12}#{line}" }]
          end
          places << "No line of this thread grows." if sites.empty?
          Native.allocator[:name].start_with?("jemalloc") ? places : [*places, UNSEEN]
        end

        private

        def plan(calls)
          Leak::Plan.new(requests: calls, rounds: @rounds, seconds: @seconds, smallest: SMALLEST, trial: TRIAL,
                         warm_up: 1)
        end

        def carry_out(plan)
          Leak::Run.new(@calls, [], plan, progress).tap { |run| run.call("block") }
        end

        def progress
          Progress.new(StringIO.new)
        end
      end
    end
  end
end
