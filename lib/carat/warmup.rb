# frozen_string_literal: true

require_relative "log/process_log"
require_relative "warmup/compilation"
require_relative "warmup/pools/connections"
require_relative "warmup/eager_loading"
require_relative "warmup/heap_warmup"
require_relative "processes/output"
require_relative "warmup/warmup_request"

module Carat
  # Prepares a process to be a mold. The order of the steps matters.
  module Warmup
    # The share of boot_timeout for warm-up requests. The rest is for the preparation of the heap.
    SHARE = 0.75
    private_constant :SHARE

    module_function

    # Returns until when, by the monotonic clock, a mold that was `started` then may make warm-up requests.
    def deadline(started, boot_timeout)
      started + (boot_timeout * SHARE)
    end

    # Prepares the first mold, after the application has been loaded. Requests `targets` from the application, with
    # environments of `template`, until `deadline` of the monotonic clock, as clients over HTTPS if `https`. Warnings go
    # to the ProcessLog `log`. Returns how many requests have reached the application.
    def first(app, template, targets, deadline:, log:, https: false)
      Warmup::EagerLoading.run(log:)
      requests = targets.map { |target| Warmup::WarmupRequest.new(app, template, target, log:, https:) }
      good = requests.select { |request| request.run(deadline:) }
      count = good.size + Warmup::Compilation.run(good, deadline:)
      run(log:)
      count
    end

    # Prepares the process before each generation of workers, in the first mold and in a worker that becomes the mold.
    def run(log:)
      Warmup::Connections.close(log:)
      Processes::Output.flush
      Warmup::HeapWarmup.run
    end
  end
end
