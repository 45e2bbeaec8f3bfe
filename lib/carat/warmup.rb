# frozen_string_literal: true

require_relative "warmup/connections"
require_relative "warmup/eager_loading"
require_relative "warmup/heap_warmup"
require_relative "processes/output"
require_relative "warmup/warmup_request"

module Carat
  # What makes a process a good mold, in this order.
  module Warmup
    module_function

    # Once, when the application has been loaded: `targets` are requested of it, with environments of `template`, up to
    # `deadline` of the monotonic clock.
    def first(app, template, targets, deadline:, log: $stderr)
      Warmup::EagerLoading.run(log:)
      targets.each { |target| Warmup::WarmupRequest.new(app, template, target, log:).run(deadline:) }
      run(log:)
    end

    # Before each generation of workers, be it forked of the first mold or of a worker that has become one.
    def run(log: $stderr)
      Warmup::Connections.close(log:)
      Processes::Output.flush
      Warmup::HeapWarmup.run
    end
  end
end
