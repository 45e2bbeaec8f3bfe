# frozen_string_literal: true

require_relative "plan"
require_relative "site"

module Carat
  module Lab
    module Leak
      # Finds the lines at which memory grows, in a worker of its own with one thread: the trace makes requests slower.
      class SiteSearch
        # How often growth is looked at.
        ROUNDS = 5

        # Requests of a round.
        REQUESTS = 1009

        # Seconds for all rounds.
        SECONDS = 20.0

        # Requests while the lines that fill a container are noted, and how often there are as many, until each kind of
        # container has been filled: requests may take turns to fill some of many.
        WATCHED = 101
        WATCHES = 10

        # Requests that show how slow the trace is.
        TRIAL = 53
        private_constant :TRIAL, :WATCHES

        # `server` is a Server that serves with one thread, `targets` are paths; a round has `requests` at most, and all
        # rounds take so many `seconds`. `trace` is the order that begins the trace.
        def initialize(server, targets, requests, progress, seconds: SECONDS, trace: "trace")
          @seconds = seconds
          @trace = trace
          @server = server
          @targets = targets.dup
          @limit = [REQUESTS, requests].min
          @progress = progress
        end

        # Returns Sites, the largest first.
        def call
          @progress.step("the place")
          request(@limit / 2)
          @server.ask(@trace)
          requests = fit
          ROUNDS.times { |round| work(requests, round) }
          @server.ask("watch")
          watch([WATCHED, requests].min)
          found = @server.ask("sites")
          Site.gather(found.fetch(:lines), found.fetch(:containers), requests)
        end

        private

        # The rounds of the trial and of the first requests are not looked at.
        def fit
          started = now
          request(TRIAL)
          affordable = @seconds / ROUNDS / ((now - started) / TRIAL)
          Plan.prime(affordable.floor.clamp([TRIAL, @limit].min, @limit))
        end

        def watch(requests)
          WATCHES.times do
            request(requests)
            break if @server.ask("watched").fetch(:enough)
          end
        end

        def work(requests, round)
          request(requests)
          @server.ask("round")
          @progress.advance((round + 1).fdiv(ROUNDS + 1))
        end

        def request(count)
          @server.request(@targets, count)
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
