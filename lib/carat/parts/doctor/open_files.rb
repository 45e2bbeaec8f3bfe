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
      # Checks whether the edge may open enough file descriptors for its clients and for itself.
      class OpenFiles
        # The descriptors that the edge reserves for itself, as in DescriptorBudget of crates/carat-policy.
        RESERVE = 64
        # The descriptors of a lane: its socket and its shared page.
        LANE = 2
        # The divisor of the remaining descriptors: that part is for request bodies and further responses. Clients get
        # the others, two each.
        SHARED_PART = 5
        # The most descriptors for request bodies and further responses.
        SHARED_MOST = 1400
        # The fewest remaining descriptors with which the server starts.
        LEAST = 10
        REMEDY = "raise `ulimit -Hn` or LimitNOFILE"
        private_constant :REMEDY

        # `allowed` is the soft RLIMIT_NOFILE of the edge.
        def initialize(configuration, allowed: Launch::OpenFileLimit.reachable)
          @configuration = configuration
          @allowed = allowed
        end

        # Returns the Finding. If nobody has chosen max_connections, fewer clients are no reason to warn: the server
        # serves as many as it has descriptors for.
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

        # How many workers may have descriptors: twice the maximum, because draining workers keep theirs, and two more.
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
