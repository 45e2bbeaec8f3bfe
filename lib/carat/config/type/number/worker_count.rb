# frozen_string_literal: true

require_relative "../../config_error"
require_relative "count_range"

module Carat
  module Config
    module Type
      # The number of workers: fixed, a range that follows the load, or as many as the machine has room for.
      class WorkerCount < CountRange
        # The word for as many workers as the machine has room for.
        AUTO = "auto"

        # The largest number of workers.
        LIMIT = 10_000

        def initialize
          super(1..LIMIT)
        end

        # Reads "auto", which is returned as it is, or a number or range as CountRange does. Raises InvalidValue.
        def parse(value)
          value.to_s == AUTO ? AUTO : super
        rescue InvalidValue => e
          # With `workers 0`, its single mode, Puma forks no worker: the process that has loaded the application serves.
          raise e, "#{e.message}; for Puma's single mode write 1" if value.to_s == "0"

          raise
        end

        # Returns `value`, a result of #parse, as text for users.
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
