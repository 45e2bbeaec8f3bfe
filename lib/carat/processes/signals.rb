# frozen_string_literal: true

module Carat
  module Processes
    # The signals of Ruby processes. The edge decides when they stop, so they ignore what a terminal sends to the whole
    # process group. Traps are blocks rather than "IGNORE", which programs of the application would inherit.
    module Signals
      NAMES = %w[INT TERM QUIT HUP].freeze
      # Signals that raise by default. Ruby 4.0.1 crashes when one arrives in a method that has got keywords, such as
      # File.open (Ruby bug 21865).
      CRASHING = RUBY_VERSION.start_with?("4.0.") ? NAMES - ["INT"] : []
      private_constant :NAMES, :CRASHING

      module_function

      # In the mold: the edge stops it on the control socket.
      def ignore
        NAMES.each { |name| trap(name) { nil } }
      end

      # In a process that the edge ends by a signal: the application, or its framework, handles them.
      def restore
        NAMES.each { |name| trap(name, "DEFAULT") }
        CRASHING.each { |name| trap(name) { raise SignalException, name } }
      end

      # In a worker: SIGTERM calls the block, which runs in a signal handler.
      def on_term(&block)
        trap("TERM", &block)
      end
    end
  end
end
