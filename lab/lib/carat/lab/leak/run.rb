# frozen_string_literal: true

require_relative "census"
require_relative "in_worker/holdings"
require_relative "plan"

module Carat
  module Lab
    module Leak
      # Rounds of requests to one server, with a Census before the first and after each.
      class Run
        MEMINFO = "/proc/meminfo"
        MAPPINGS_LIMIT = "/proc/sys/vm/max_map_count"
        private_constant :MEMINFO, :MAPPINGS_LIMIT

        # The Plan.
        attr_reader :plan

        # `server` is a Server, `targets` are paths, `plan` is a Plan.
        def initialize(server, targets, plan, progress)
          @server = server
          @targets = targets.dup
          @plan = plan
          @progress = progress
          # Made before, so that a Run in the measured process does not grow.
          @censuses = Array.new(plan.rounds + 1) { Census.new }
          @taken = 0
          @requests = 0
        end

        # The Censuses so far.
        def censuses
          @censuses.first(@taken)
        end

        # Warms up and makes the rounds. Raises LabError.
        def call(name)
          @progress.step("#{name}: warm-up")
          try
          request(plan.warm_up) { |share| @progress.advance(share) }
          before = @server.ask("holdings")
          census
          @progress.step(name)
          plan.rounds.times { |round| measure(round) }
          @holdings = [before, @server.ask("holdings")]
        end

        # Words about the descriptors or the mappings that are more than before the rounds.
        def growth(kind)
          @holdings ? Holdings.growth(*@holdings, kind) : []
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
          [passed / (@requests - @censuses.first.requests), plan.seconds - passed]
        end

        # The first census does not count: it settles what was never collected.
        def try
          request(plan.trial)
          fill(Census.new)
          before = fill(Census.new)
          started = now
          request(plan.trial)
          seconds = now - started
          files = Process.getrlimit(:NOFILE).last # the server raises its limit
          mappings = File.read(MAPPINGS_LIMIT).to_i
          @plan = plan.fit(seconds, before, fill(Census.new), available:, files:, mappings:)
        end

        def census
          fill(@censuses.fetch(@taken))
          @taken += 1
        end

        def fill(census)
          census.requests = @requests
          @server.ask("census").each { |name, value| census[name] = value }
          census
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
