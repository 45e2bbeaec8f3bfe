# frozen_string_literal: true

require_relative "gap_trace"
require_relative "growth_trace"
require_relative "holdings"
require_relative "worker_census"

module Carat
  module Lab
    module Leak
      # Carries out the measurements that a Run and a SiteSearch order, in the process that is measured.
      class Orders
        # Returns a Hash for JSON, nil for an unknown order.
        def carry_out(order)
          case order
          when "holdings" then Holdings.take
          when "census" then WorkerCensus.take
          when "trace" then (@trace = GrowthTrace.new).start
          when "trace_gaps" then (@trace = GapTrace.new).start
          when "round" then @trace.round
          when "watch" then @trace.watch
          when "watched" then @trace.watched
          when "sites" then @trace.sites
          end
        end
      end
    end
  end
end
