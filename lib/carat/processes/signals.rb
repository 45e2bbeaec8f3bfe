# frozen_string_literal: true

module Carat
  module Processes
    # The signals of Ruby processes. The edge decides when a process stops, so the processes ignore the signals
    # that a terminal sends to the whole process group. Traps are blocks, because programs that the application starts
    # would inherit "IGNORE".
    module Signals
      NAMES = %w[INT TERM QUIT HUP].freeze
      # The signals that raise an exception by default and need a trap for that. Ruby 4.0.1 crashes when such a signal
      # arrives in a method that has got keywords, such as File.open (Ruby bug 21865).
      CRASHING = RUBY_VERSION.start_with?("4.0.") ? NAMES - ["INT"] : []
      private_constant :NAMES, :CRASHING

      module_function

      # Ignores the signals, in a mold: the edge stops it over the control socket.
      def ignore
        NAMES.each { |name| trap(name) { nil } }
      end

      # Restores Ruby's defaults, in a process that the edge ends by a signal: the application, or its framework,
      # handles them.
      def restore
        NAMES.each { |name| trap(name, "DEFAULT") }
        CRASHING.each { |name| trap(name) { raise SignalException, name } }
      end

      # Makes SIGTERM call the block, in a worker. The block runs in a signal handler.
      def on_term(&block)
        trap("TERM", &block)
      end
    end
  end
end
