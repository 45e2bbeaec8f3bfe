# frozen_string_literal: true

require_relative "../../launch/lab_gem"
require_relative "../../log/plain_json"

module Carat
  module Processes
    # Profiles of this process at the request of the edge. The first one loads the measurement from the gem carat-lab.
    class Profiler
      # `control` is a Native::Control. The block returns how many requests this process has served.
      def initialize(control, &served)
        @control = control
        @served = served
      end

      # Begins to sample one in so many bytes that are allocated; nil: as Recording does by default.
      def begin(sampling_bytes)
        raise LoadError, "the gem carat-lab is not where the server runs" unless Launch::LabGem.load

        require "carat/lab/profile/recording"
        @before = @served.call
        @recording = Lab::Profile::Recording.new(sampling_bytes)
      rescue StandardError, LoadError => e
        refuse(e)
      end

      # Ends that and sends the profile, if there is one; `replaced` says that the worker ends.
      def finish(replaced: false)
        recording = @recording or return
        @recording = nil
        @control.profile(recording.finish(replaced:, requests: @served.call - @before))
      rescue StandardError => e
        refuse(e)
      end

      private

      # The worker is there for its requests: it goes on.
      def refuse(error)
        @control.profile(Log::PlainJSON.generate({ error: "the worker cannot be profiled: #{error.message}" }))
      end
    end
  end
end
