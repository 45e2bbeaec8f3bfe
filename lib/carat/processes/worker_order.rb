# frozen_string_literal: true

module Carat
  module Processes
    # An order of the edge to fork a worker: its number, its generation, and IOs: its control socket and, for each lane,
    # a pair of a socket and a page.
    WorkerOrder = Struct.new(:worker, :generation, :control, :lanes) do
      # Closes the IOs; the worker has copies.
      def close
        [control, *lanes.flatten].each(&:close)
      end
    end
  end
end
