# frozen_string_literal: true

require "etc"
require_relative "../../config/type"
require_relative "../../config/type/number/worker_count"
require_relative "../../launch/descriptors/open_file_limit"
require_relative "../../log/counted"
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
        # Request bodies and further responses get one part in this many of the rest. Of the other parts, a client has
        # two descriptors.
        SHARED_PART = 5
        # The largest size of that part.
        SHARED_MOST = 1400
        # Descriptors without which the server does not start.
        LEAST = 10
        REMEDY = "raise `ulimit -Hn` or LimitNOFILE"
        private_constant :REMEDY

        # `allowed` is the soft RLIMIT_NOFILE of the edge.
        def initialize(configuration, allowed: Launch::OpenFileLimit.reachable)
          @configuration = configuration
          @allowed = allowed
        end

        # Returns the Finding. Without a chosen max_connections, the server serves as many clients as there is room for.
        def finding
          return found(:problem, "too few for the workers: #{REMEDY}") if left < LEAST
          return found(:ok, "enough for #{Log::Counted.of(served, "client")}") unless missed?

          found(:warning, "enough for #{served} of max_connections #{wanted}: #{REMEDY}, or lower max_connections")
        end

        private

        def found(level, sentence)
          Finding.new(level, "open files", "#{@allowed} allowed, #{sentence}")
        end

        def missed?
          served < wanted && @configuration.chosen?(:max_connections)
        end

        def served
          [wanted, (left - [left / SHARED_PART, SHARED_MOST].min) / 2].min
        end

        def left
          @allowed - RESERVE - (workers * ((@configuration.lanes * LANE) + 1))
        end

        # Twice the maximum, because draining workers have descriptors of their own, and two more.
        def workers
          most = @configuration[:workers]
          ((most == Config::Type::WorkerCount::AUTO ? Etc.nprocessors : most.end) * 2) + 2
        end

        def wanted
          @configuration[:max_connections]
        end
      end
    end
  end
end
