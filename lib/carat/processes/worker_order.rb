# frozen_string_literal: true

module Carat
  module Processes
    # What the edge orders when it needs a worker: its number, its generation, and IOs: its control socket and, for each
    # lane, a pair of a socket and a page.
    WorkerOrder = Struct.new(:worker, :generation, :control, :lanes) do
      # Closes the IOs, of which the worker has copies.
      def close
        [control, *lanes.flatten].each(&:close)
      end
    end
  end
end
