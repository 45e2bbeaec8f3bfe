# frozen_string_literal: true

module Carat
  module Lab
    module Leak
      # How many requests a round has. The number is a prime, so that what grows by exactly one a request stands out
      # from what grows by one in two, in ten, or in a hundred.
      class Plan
        # Requests of a round.
        REQUESTS = 10_007

        # Rounds of a run.
        ROUNDS = 11

        # Seconds for the rounds of a run.
        SECONDS = 25.0

        # Threads that an application may start in a run.
        THREADS = 2000

        # Descriptors that an application may leave open in a run, if the limit of open files has room for half as many
        # again.
        DESCRIPTORS = 2000

        # Mappings that an application may leave in a run, under the same condition: each suspended Fiber has two.
        MAPPINGS = 20_000

        # The share of the machine's free memory that an application may fill in a run.
        MEMORY_SHARE = 0.25

        # Requests before the rounds, as a share of a round.
        WARM_UP_SHARE = 0.2

        # No round has fewer requests unless you say so.
        SMALLEST = 101

        # Requests that show how fast the application is, and what each of them leaves behind.
        TRIAL = 211

        attr_reader :requests, :rounds

        # Seconds for the rounds of a run.
        attr_reader :seconds

        # `requests` is nil where the trial decides: no round then has fewer than `smallest`. `warm_up` is a share of
        # a round.
        def initialize(requests: nil, rounds: ROUNDS, seconds: SECONDS, smallest: SMALLEST, trial: TRIAL,
                       warm_up: WARM_UP_SHARE)
          @chosen = !requests.nil?
          @requests = requests || REQUESTS
          @rounds = rounds
          @seconds = seconds
          @smallest = smallest
          @trial = trial
          @warm_up_share = warm_up
        end

        # Requests of the trial.
        def trial
          [@trial, requests].min
        end

        # Returns the plan that fits a trial of so many seconds, between two Censuses, on a machine with so much memory
        # `available`, and as many `files` and `mappings` for a process. A number that was chosen stays.
        def fit(seconds, before, after, available:, files:, mappings:)
          return self if @chosen

          limits = [by_time(seconds), by_count(after.threads - before.threads, THREADS),
                    by_memory(after.pss - before.pss, available)]
          # What the kernel refuses beyond a number may make rounds smaller than the smallest.
          few = { descriptors: [DESCRIPTORS, files], mappings: [MAPPINGS, mappings] }.map do |kind, (limit, most)|
            by_count(after[kind] - before[kind], [limit, (most - after[kind]) / 1.5].min)
          end
          size = [[REQUESTS, *limits].min.clamp(@smallest, REQUESTS), *few].min.floor
          dup.tap { |plan| plan.requests = Plan.prime(size) }
        end

        # Returns the requests of the next round when so many rounds are left, and requests have become slower.
        def next_round(seconds_per_request, seconds_left, rounds_left)
          return requests if @chosen

          affordable = seconds_left / rounds_left / seconds_per_request
          affordable >= requests ? requests : Plan.prime(affordable.clamp([@smallest, requests].min, requests).floor)
        end

        # Requests before the first round.
        def warm_up
          [(requests * @warm_up_share).ceil, 1].max
        end

        # All requests of a run.
        def total
          (requests * rounds) + warm_up
        end

        # Returns the largest prime up to a number.
        def self.prime(number)
          number.downto(2).find { |each| (2..Integer.sqrt(each)).none? { |factor| (each % factor).zero? } } || 2
        end

        protected

        attr_writer :requests

        private

        def by_time(seconds)
          @seconds / rounds / (seconds / trial)
        end

        # `more` are those after the trial, of which a run may have `limit`.
        def by_count(more, limit)
          more.positive? ? limit.fdiv(rounds) / more.fdiv(trial) : REQUESTS
        end

        def by_memory(grown, available)
          grown.positive? ? available * MEMORY_SHARE / rounds / grown.fdiv(trial) : REQUESTS
        end
      end
    end
  end
end
