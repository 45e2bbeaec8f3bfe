# frozen_string_literal: true

module Carat
  module Warmup
    # The log that `rails server` writes to the terminal in development, beside the file.
    module ConsoleLog
      # Set by the Rackup handler in the environment of the mold.
      VARIABLE = "CARAT_CONSOLE_LOG"

      module_function

      # Makes `logger` write to `out` too, if `environment`, the mold's ENV, asks for it; removes the variable. Does
      # nothing when the logger writes to `out` or to standard error already.
      def attach(environment, logger: rails_logger, out: $stdout)
        return unless environment.delete(VARIABLE) && logger

        broadcast(logger, terminal(logger, out)) unless ::ActiveSupport::Logger.logger_outputs_to?(logger, out, $stderr)
      end

      def rails_logger
        ::Rails.logger if defined?(::Rails.logger)
      end

      def terminal(logger, out)
        ::ActiveSupport::Logger.new(out).tap do |terminal|
          terminal.formatter = logger.formatter
          terminal.level = logger.level
        end
      end

      # Rails 7.1 and later have a logger that broadcasts.
      def broadcast(logger, terminal)
        return logger.broadcast_to(terminal) if logger.respond_to?(:broadcast_to)

        logger.extend(::ActiveSupport::Logger.broadcast(terminal))
      end

      private_class_method :rails_logger, :terminal, :broadcast
    end
  end
end
