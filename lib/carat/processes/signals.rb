# frozen_string_literal: true

module Carat
  module Processes
    # The signals of molds and workers. The edge coordinates: what a terminal sends to the whole process group is not
    # theirs. They get blocks rather than "IGNORE", which programs that the application starts would inherit.
    module Signals
      module_function

      # In the mold: its end comes through the control socket.
      def ignore
        %w[INT TERM HUP].each { |name| trap(name) { nil } }
      end

      # In a worker: SIGTERM calls the block, which must be fit for a signal handler.
      def on_term(&block)
        trap("TERM", &block)
      end
    end
  end
end
