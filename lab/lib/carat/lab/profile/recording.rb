# frozen_string_literal: true

require "carat/log/plain_json"
require_relative "../lab_error"
require_relative "../sampler"

module Carat
  module Lab
    module Profile
      # A profile of this process while it is taken.
      class Recording
        # Characters of a name or a path that are kept.
        TEXT_LIMIT = 300

        # Bytes of memory for which one sample stands on average, unless somebody wants another number. When samples of
        # blocks or of objects take more than so many percent of the time, there will be half as many.
        SAMPLING_BYTES = 512 * 1024
        COST_LIMIT = 1
        NO_LIMIT = 100
        private_constant :TEXT_LIMIT, :SAMPLING_BYTES, :COST_LIMIT, :NO_LIMIT

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
          functions.each { |row| row.map! { |value| cut(value) } }
          head = details.merge(seconds: seconds.round(3), sampling_bytes: @sampling_bytes,
                               sampling_bytes_at_end: at_end, native: @native, samples:, truncated:, functions:)
          arrays = %w[callers calls bytes objects live_bytes live_objects].zip([callers, calls, *weights])
          "#{Log::PlainJSON.generate(head).chop},#{arrays.map { |name, json| "\"#{name}\":#{json}" }.join(",")}}"
        end

        private

        def cut(value)
          value.is_a?(String) ? value[0, TEXT_LIMIT] : value
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
