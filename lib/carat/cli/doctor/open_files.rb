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
        # What the edge keeps for itself, as in DescriptorBudget of crates/carat-policy.
        RESERVE = 64
        # A lane's socket and its shared page.
        LANE = 2
        # The rest has five parts: two for clients, two for files of responses, and one for bodies.
        PARTS = 5
        # Those for clients.
        CLIENT_PARTS = 2

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
          (clients.fdiv(CLIENT_PARTS).ceil * PARTS) + (workers * ((lanes * LANE) + 1)) + RESERVE
        end

        # Twice the maximum, because workers that drain have their own, and two more.
        def workers
          most = @configuration[:workers]
          ((most == Config::Type::WorkerCount::AUTO ? Etc.nprocessors : most.end) * 2) + 2
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
