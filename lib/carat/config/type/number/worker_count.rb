# frozen_string_literal: true

require_relative "../../config_error"
require_relative "count_range"

module Carat
  module Config
    module Type
      # The number of workers: fixed, a range that follows the load, or what the machine has room for.
      class WorkerCount < CountRange
        # The value that leaves the number to Carat.
        AUTO = "auto"

        # The largest number.
        LIMIT = 10_000

        def initialize
          super(1..LIMIT)
        end

        # Reads what a CountRange reads, or "auto", which it returns. Raises InvalidValue.
        def parse(value)
          value.to_s == AUTO ? AUTO : super
        rescue InvalidValue => e
          # Puma forks no worker then, and serves with the process that has loaded the application.
          raise e, "#{e.message}; for Puma's single mode write 1" if value.to_s == "0"

          raise
        end

        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          value == AUTO ? AUTO : super
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "#{super}|#{AUTO}"
        end

        private

        def noun
          "workers"
        end

        def examples
          'such as 2, 1..8 or "auto"'
        end
      end
    end
  end
end
