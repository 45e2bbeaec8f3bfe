# frozen_string_literal: true

require_relative "../../launch/lab_gem"
require_relative "../../log/plain_json"

module Carat
  module Processes
    # Profiles this process when the edge asks for it. The first profile loads code of the gem carat-lab.
    class Profiler
      # `control` is a Native::Control. The block returns how many requests this process has served.
      def initialize(control, &served)
        @control = control
        @served = served
      end

      # Begins to sample once in `interval` allocated bytes, or microseconds of `clocks`, a sum of bits that carat-lab
      # defines; nil stands for its default.
      def begin(interval, clocks)
        raise LoadError, "the gem carat-lab is not where the server runs" unless Launch::LabGem.load

        @before = @served.call
        @recording = record(interval, clocks)
      rescue StandardError, LoadError => e
        refuse(e)
      end

      # Ends the profile, if there is one, and sends it. `replaced` says that the worker ends.
      def finish(replaced: false)
        recording = @recording or return
        @recording = nil
        @control.profile(recording.finish(replaced:, requests: @served.call - @before))
      rescue StandardError => e
        refuse(e)
      end

      private

      def record(interval, clocks)
        if clocks.zero?
          require "carat/lab/profile/recording"
          return Lab::Profile::Recording.new(interval)
        end
        require "carat/lab/profile/time_recording"
        Lab::Profile::TimeRecording.new(clocks, interval)
      end

      # Reports that no profile is possible, and raises nothing: the worker must continue to serve.
      def refuse(error)
        @control.profile(Log::PlainJSON.generate({ error: "the worker cannot be profiled: #{error.message}" }))
      end
    end
  end
end
