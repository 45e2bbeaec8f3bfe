# frozen_string_literal: true

module Carat
  module Processes
    # Buffered output of the IOs of this process.
    module Output
      module_function

      # Flushes every IO. To be called before exit!, and before a fork, after which both processes would write the same
      # buffers.
      def flush
        ObjectSpace.each_object(IO) do |io|
          io.flush unless io.closed?
        rescue IOError, SystemCallError
          # The reader is gone, or the descriptor is not what Ruby believes.
        end
      end
    end
  end
end
