# frozen_string_literal: true

require_relative "connections"
require_relative "eager_loading"
require_relative "heap_warmup"
require_relative "output"
require_relative "warmup_request"

module Carat
  # What makes a process a good mold, in this order.
  module Warmup
    module_function

    # Once, when the application has been loaded: `targets` are requested of it, with environments of `template`, up to
    # `deadline` of the monotonic clock.
    def first(app, template, targets, deadline:, log: $stderr)
      EagerLoading.run(log:)
      targets.each { |target| WarmupRequest.new(app, template, target, log:).run(deadline:) }
      run(log:)
    end

    # Before each generation of workers, be it forked of the first mold or of a worker that has become one.
    def run(log: $stderr)
      Connections.close(log:)
      Output.flush
      HeapWarmup.run
    end
  end
end
