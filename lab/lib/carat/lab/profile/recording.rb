# frozen_string_literal: true

require_relative "../lab_error"
require_relative "../sampler"
require_relative "profile_json"

module Carat
  module Lab
    module Profile
      # A profile of this process while it is taken.
      class Recording
        # Bytes of memory for which one sample stands on average, unless somebody wants another number. When samples of
        # blocks or of objects take more than so many percent of the time, there will be half as many.
        SAMPLING_BYTES = 512 * 1024
        COST_LIMIT = 1
        NO_LIMIT = 100
        private_constant :SAMPLING_BYTES, :COST_LIMIT, :NO_LIMIT

        # Begins: one in `sampling_bytes` bytes is a sample. Raises LabError.
        def initialize(sampling_bytes)
          @sampling_bytes = sampling_bytes || SAMPLING_BYTES
          @began = now
          @native = Sampler.start(@sampling_bytes, sampling_bytes ? NO_LIMIT : COST_LIMIT)
          raise LabError, "another profile is under way" if @native.nil?
        end

        # Ends, and returns a JSON object. What is left after a collection counts as live.
        def finish(**details)
          seconds = now - @began
          GC.start
          functions, callers, calls, *weights, samples, at_end, truncated = Sampler.stop
          head = details.merge(seconds: seconds.round(3), sampling_bytes: @sampling_bytes,
                               sampling_bytes_at_end: at_end, native: @native, samples:, truncated:)
          arrays = %w[callers calls bytes objects live_bytes live_objects].zip([callers, calls, *weights])
          ProfileJSON.generate(head, functions, arrays)
        end

        private

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
