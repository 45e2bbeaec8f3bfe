# frozen_string_literal: true

require_relative "../part"

module Carat
  module Parts
    # The part `fibers`: workers run each request in a fiber of one thread.
    module Fibers
      # The options of the part, and the methods that the server calls.
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

        # The check whether the kernel has room for the stacks of the fibers.
        def doctor_checks
          require_relative "mappings"
          [CLI::Doctor::Mappings]
        end

        # The notes about settings of Puma 8, which can run a fiber for each request, and can have more threads for
        # requests that wait.
        def puma_calls
          PUMA_NOTES.transform_values { |note| ->(_) { CLI::Import::Translation.new(nil, note) } }
        end

        # What to use in place of the option `max_io_threads`, for threads that only wait.
        def gone_options = { max_io_threads: WAITING }

        # Refuses a config file that sets `fibers` and `threads`. A flag or a variable beside the file is allowed:
        # somebody may try the other one for one start.
        def check(configuration)
          return unless configuration[:fibers] && %i[fibers threads].all? { |name| configuration.in_file?(name) }

          configuration.refuse(:threads, "fibers takes its place, since a worker runs either: leave out one of them")
        end

        # The option `fibers`, if it is set.
        def concurrency(configuration)
          :fibers if configuration[:fibers]
        end

        # Loads the code of the lane before the application, so that all workers share its memory.
        def before_load(_control, configuration)
          require_relative "fiber_lane" if configuration[:fibers]
        end

        # Makes libraries keep their state for each fiber.
        def install(app, configuration)
          if configuration[:fibers]
            require_relative "fiber_isolation"
            FiberIsolation.establish
          end
          app
        end

        # The lane that runs each request in a fiber, and its options.
        def lane(configuration)
          return unless configuration[:fibers]

          [Request::FiberLane, { capacity: configuration[:fibers], stall_warning: configuration[:stall_warning] }]
        end
      end
    end
  end
end
