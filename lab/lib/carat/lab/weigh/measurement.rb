# frozen_string_literal: true

require_relative "../processes/application_process"

module Carat
  module Lab
    module Weigh
      # Boots the application in a new process, with the allocator and the garbage collection of a mold.
      class Measurement
        # `configuration` is a Configuration, `kind` "rackup" or "gemfile", `target` the file, `path` what to request,
        # `words` are those of Flags#words, `progress` is a Progress.
        def initialize(configuration, kind, target, path, words, progress)
          @process = ApplicationProcess.new(configuration, "weigh/boot", "Weigh::Boot", [kind, target, path, *words],
                                            progress)
        end

        # Returns what Boot has measured, parsed. Raises LabError.
        def run
          @process.require_counters
          @process.run
        end
      end
    end
  end
end
