# frozen_string_literal: true

require "etc"
require_relative "../../config/type"
require_relative "../../config/type/worker_count"
require_relative "../../launch/open_file_limit"
require_relative "finding"

module Carat
  module CLI
    class Doctor
      # Whether the edge may open a file descriptor for each client and for its own needs.
      class OpenFiles
        # Besides clients: listeners, logs, the runtime, and spooled bodies.
        RESERVE = 64
        # A lane's socket and its shared page.
        LANE = 2

        # `allowed` is the soft RLIMIT_NOFILE of the edge.
        def initialize(configuration, allowed: Launch::OpenFileLimit.reachable)
          @configuration = configuration
          @allowed = allowed
        end

        # Returns the Finding.
        def finding
          return Finding.ok("open files", "#{needed} needed, #{@allowed} allowed") if needed <= @allowed

          Finding.warning("open files", "#{needed} needed for max_connections #{clients}, #{@allowed} allowed: " \
                                        "raise `ulimit -Hn` or LimitNOFILE, or lower max_connections")
        end

        private

        def needed
          clients + (workers * ((lanes * LANE) + 1)) + RESERVE
        end

        # The maximum, and one replacement.
        def workers
          most = @configuration[:workers]
          (most == Config::Type::WorkerCount::AUTO ? Etc.nprocessors : most.end) + 1
        end

        # The lanes of one worker; its fibers share one.
        def lanes
          @configuration[:fibers] ? 1 : @configuration[:threads]
        end

        def clients
          @configuration[:max_connections]
        end
      end
    end
  end
end
