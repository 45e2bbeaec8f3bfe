# frozen_string_literal: true

require "etc"
require_relative "../../config/type"
require_relative "../../config/type/worker_count"
require_relative "../../launch/open_file_limit"
require_relative "finding"

module Carat
  module CLI
    class Doctor
      # Whether the edge may open a descriptor for each client, and some for its own use.
      class OpenFiles
        # Beside clients: listeners, logs, the runtime's own, and bodies in files.
        RESERVE = 64
        # A lane's socket and its shared page.
        LANE = 2

        # `allowed` is RLIMIT_NOFILE as the edge will inherit it.
        def initialize(configuration, allowed: Launch::OpenFileLimit.reachable)
          @configuration = configuration
          @allowed = allowed
        end

        def finding
          return Finding.ok("open files", "#{@allowed} are allowed, #{needed} are needed") if needed <= @allowed

          Finding.warning("open files", "#{@allowed} are allowed, and max_connections #{clients} needs #{needed}: " \
                                        "raise `ulimit -Hn` or LimitNOFILE, or lower max_connections")
        end

        private

        def needed
          clients + (workers * ((lanes * LANE) + 1)) + RESERVE
        end

        # At most, and one that is to replace another.
        def workers
          most = @configuration[:workers]
          (most == Config::Type::WorkerCount::AUTO ? Etc.nprocessors : most.end) + 1
        end

        # Of one worker, whose fibers share a lane.
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
