# frozen_string_literal: true

require_relative "../../warmup/fork_safety"
require_relative "elsewhere"
require_relative "finding"

module Carat
  module CLI
    class Doctor
      # Checks for threads that the application starts while it is loaded. No worker has these threads, unless their
      # library starts them again after the fork.
      class Threads
        UNKNOWN = "unknown: the application cannot be loaded; start it to see why"
        private_constant :UNKNOWN

        def initialize(configuration)
          @application = Elsewhere.new(configuration)
          @spared = configuration[:fork_safe_threads]
        end

        # Returns the Finding.
        def finding
          threads = @application.call { survivors }
          return Finding.warning("threads", UNKNOWN) unless threads
          return Finding.ok("threads", "the application starts none before the fork") if threads.empty?

          Finding.warning("threads", "no worker has the threads that the application starts before the fork, and a " \
                                     "worker that has them does not become the mold (docs/refork.md); start them in " \
                                     "on_worker_boot: #{threads.join("; ")}")
        end

        private

        def survivors
          Warmup::ForkSafety.spared = @spared
          Warmup::ForkSafety.survivors
        end
      end
    end
  end
end
