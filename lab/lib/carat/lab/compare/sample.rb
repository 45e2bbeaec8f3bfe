# frozen_string_literal: true

require_relative "../load/plan"
require_relative "../load/trial"
require_relative "setups/allocation_counter"

module Carat
  module Lab
    module Compare
      # What one set-up did in one round: latencies and CPU in seconds, memory in bytes; nil is unknown.
      Sample = Struct.new(:requests_per_second, :p50, :p99, :cpu_per_request, :pss_at_rest, :pss_at_end,
                          :allocations_per_request, :failed_share, keyword_init: true) do
        # Starts the set-up's server, loads it, and returns a Sample. Yields now and then. Raises LabError; an Interrupt
        # ends the load.
        def self.take(setup, generator, plan, &block)
          setup.open do |server|
            url = server.url + plan.path
            Load::Trial.check(url)
            at_rest = server.tree.pss
            load(generator, url, plan, Load::Plan::WARM_UP_SECONDS, &block)
            server.tree.await_rest
            counted = setup.allocations
            worked = server.tree.cpu_seconds
            traffic = load(generator, url, plan, plan.seconds, &block)
            from(traffic, cpu: server.tree.cpu_seconds - worked, pss_at_rest: at_rest, pss_at_end: server.tree.pss,
                          allocations_per_request: AllocationCounter.per_request(counted, setup.allocations))
          end
        end

        def self.load(generator, url, plan, seconds, &block)
          traffic = generator.run(url, seconds:, connections: plan.connections, &block)
          raise Interrupt if traffic.interrupted

          traffic
        end

        def self.from(traffic, cpu:, **others)
          all = traffic.requests + traffic.failed
          new(requests_per_second: traffic.rate, p50: traffic.latency["p50"], p99: traffic.latency["p99"],
              cpu_per_request: (cpu / traffic.requests if traffic.requests.positive?),
              failed_share: (traffic.failed.fdiv(all) if all.positive?), **others)
        end
        private_class_method :load, :from

        # Returns a Hash for JSON.
        def report
          to_h.to_h { |name, value| [name.to_s, value.is_a?(Float) ? value.round(9) : value] }
        end
      end
    end
  end
end
