# frozen_string_literal: true

module Carat
  module Lab
    # Makes Ctrl-C an exception for the duration of a measurement, which then reports what is known. Elsewhere, Ctrl-C
    # ends the command.
    module Interrupts
      module_function

      # Runs the block, in which SIGINT raises Interrupt.
      def raising
        previous = trap(:INT, "DEFAULT")
        yield
      ensure
        trap(:INT, previous)
      end
    end
  end
end
