# frozen_string_literal: true

module Carat
  module Processes
    # What the edge says when it orders a worker: its number, its generation, and the descriptors of its control socket
    # and of its lanes, each a pair of a socket and a page.
    WorkerOrder = Struct.new(:worker, :generation, :control, :lanes) do
      # Returns the control socket's descriptor, which is the caller's from now on.
      def take_control
        control.tap { self.control = nil }
      end

      # Closes the descriptors, which the worker has copies of.
      def close
        [*control, *lanes.flatten].each { |descriptor| IO.for_fd(descriptor).close }
      end
    end
  end
end
