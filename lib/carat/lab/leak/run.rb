# frozen_string_literal: true

require_relative "census"
require_relative "plan"

module Carat
  module Lab
    module Leak
      # Rounds of requests to one server, with a Census before the first and after each.
      class Run
        MEMINFO = "/proc/meminfo"
        private_constant :MEMINFO

        # The Censuses so far.
        attr_reader :censuses

        # The Plan.
        attr_reader :plan

        # `server` is a Server, `targets` are paths, `plan` is a Plan.
        def initialize(server, targets, plan, progress)
          @server = server
          @targets = targets.dup
          @plan = plan
          @progress = progress
          @censuses = []
          @requests = 0
        end

        # Warms up and makes the rounds. Raises LabError.
        def call(name)
          @progress.step("#{name}: warm-up")
          try
          request(plan.warm_up) { |share| @progress.advance(share) }
          census
          @progress.step(name)
          plan.rounds.times { |round| measure(round) }
        end

        private

        def measure(round)
          @began ||= now
          size = round.zero? ? plan.requests : plan.next_round(*pace, plan.rounds - round)
          request(size) { |share| @progress.advance((round + share) / plan.rounds) }
          census
        end

        # Seconds a request in the rounds so far, and the seconds that are left for the others.
        def pace
          passed = now - @began
          [passed / (@requests - censuses.first.requests), Plan::SECONDS - passed]
        end

        # The first census does not count: it settles what was never collected.
        def try
          request(plan.trial)
          ask
          before = ask
          started = now
          request(plan.trial)
          seconds = now - started
          @plan = plan.fit(seconds, before, ask, available:)
        end

        def census
          @censuses << ask
        end

        def ask
          Census.new(requests: @requests, **@server.ask("census"))
        end

        # Yields the share that is done, now and then.
        def request(count)
          done = 0
          while done < count
            batch = [count - done, plan.trial].min
            @server.request(@targets, batch)
            done += batch
            yield done.fdiv(count) if block_given?
          end
          @requests += count
        end

        def available
          File.read(MEMINFO)[/^MemAvailable: +(\d+) kB$/, 1].to_i * 1024
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
