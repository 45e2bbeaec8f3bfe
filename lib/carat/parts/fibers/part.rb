# frozen_string_literal: true

require_relative "../part"

module Carat
  module Parts
    # Workers that run each request in a fiber of one thread.
    module Fibers
      # The options of the part, and what the server calls.
      class Part < Parts::Part
        WAITING = "raise threads, or use fibers, where requests mostly wait"
        PUMA_NOTES = { fiber_per_request: "`fibers 256` runs each request in a fiber, in place of threads",
                       max_io_threads: WAITING }.freeze
        private_constant :PUMA_NOTES, :WAITING

        option :fibers, key: :slots, group: "Processes", type: :integer, within: 1..30_000, short: "-f", edge: true,
                        restart: true, mold: true,
                        doc: "Requests that a worker runs at once, each in a fiber of one thread; replaces `threads`."
        option :stall_warning, group: "Processes", type: :seconds, default: 0.5,
                               doc: "With `fibers`: how long a request may block the others before the log names it."

        # Whether the kernel has room for the stacks.
        def doctor_checks
          require_relative "mappings"
          [CLI::Doctor::Mappings]
        end

        # Puma 8 has a fiber for each request, and more threads where requests wait.
        def puma_calls
          PUMA_NOTES.transform_values { |note| ->(_) { CLI::Import::Translation.new(nil, note) } }
        end

        # Threads beside those that compute.
        def gone_options = { max_io_threads: WAITING }

        # A flag or a variable may replace what the file says for one start.
        def check(configuration)
          return unless configuration[:fibers] && %i[fibers threads].all? { |name| configuration.in_file?(name) }

          configuration.refuse(:threads, "fibers takes its place, since a worker runs either: leave out one of them")
        end

        # The option `fibers`, where it is set.
        def concurrency(configuration)
          :fibers if configuration[:fibers]
        end

        # Loads the lane before the application, so that all workers share it.
        def before_load(_control, configuration)
          require_relative "fiber_lane" if configuration[:fibers]
        end

        # Lets libraries keep their state by fiber.
        def install(app, configuration)
          if configuration[:fibers]
            require_relative "fiber_isolation"
            FiberIsolation.establish
          end
          app
        end

        # A lane that runs each request in a fiber.
        def lane(configuration)
          return unless configuration[:fibers]

          [Request::FiberLane, { capacity: configuration[:fibers], stall_warning: configuration[:stall_warning] }]
        end
      end
    end
  end
end
