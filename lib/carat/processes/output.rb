# frozen_string_literal: true

module Carat
  module Processes
    # What this process has written to IOs and the IOs have not passed on.
    module Output
      module_function

      # Before a fork, so that it is written once, and before an end of which Ruby is not told.
      def flush
        ObjectSpace.each_object(IO) do |io|
          io.flush unless io.closed?
        rescue IOError, SystemCallError
          # Nobody reads it any more, or it was opened in another way than Ruby believes.
        end
      end
    end
  end
end
