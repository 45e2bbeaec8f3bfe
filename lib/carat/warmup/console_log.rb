# frozen_string_literal: true

module Carat
  module Warmup
    # The log that `rails server` writes to the terminal in development, besides the log file.
    module ConsoleLog
      # The variable that the Rackup handler sets in the environment of the mold.
      VARIABLE = "CARAT_CONSOLE_LOG"

      module_function

      # Makes `logger` write to `out` as well, if `environment`, the mold's ENV, has the variable, and removes the
      # variable. Does nothing when the logger writes to `out` or to standard error already.
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

      # Adds a logger. In Rails 7.1 and later, the logger can do that itself.
      def broadcast(logger, terminal)
        return logger.broadcast_to(terminal) if logger.respond_to?(:broadcast_to)

        logger.extend(::ActiveSupport::Logger.broadcast(terminal))
      end

      private_class_method :rails_logger, :terminal, :broadcast
    end
  end
end
