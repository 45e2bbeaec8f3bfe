# frozen_string_literal: true

require_relative "../../config/config_error"

module Carat
  module Parts
    module Fibers
      # Makes libraries keep state for each fiber that they otherwise keep for each thread. With fibers, all requests of
      # a worker run in one thread, and would share a database connection and its transaction.
      module FiberIsolation
        AUTOLOAD_NEEDS_THREADS = RUBY_VERSION < "3.2"
        private_constant :AUTOLOAD_NEEDS_THREADS

        # The configuration of I18n, which includes the locale, for each fiber. I18n 1.14.8 has one for each thread.
        module Locale
          # Returns the configuration of this fiber.
          def config
            Thread.current[:i18n_config] ||= ::I18n::Config.new
          end

          # Replaces the configuration of this fiber.
          def config=(value)
            Thread.current[:i18n_config] = value
          end
        end

        module_function

        # Sets up the libraries. To be called when the application has been loaded, before the fork. Raises ConfigError
        # when ActiveRecord is too old.
        def establish
          ::Sequel.extension(:fiber_concurrency) if defined?(::Sequel.extension)
          ::I18n.extend(Locale) if defined?(::I18n)
          load_constants(::Rack) if defined?(::Rack) && AUTOLOAD_NEEDS_THREADS
          refuse_old_rails
          return unless isolation?

          release_connections
          ::ActiveSupport::IsolatedExecutionState.isolation_level = :fiber
        end

        # Loads the constants that Rack autoloads. Before Ruby 3.2, while one fiber autoloads a constant, the constant
        # is missing in the other fibers.
        def load_constants(owner)
          owner.constants(false).each do |name|
            was_ahead = owner.autoload?(name)
            constant = owner.const_get(name)
            load_constants(constant) if was_ahead && constant.is_a?(Module)
          rescue LoadError
            # An optional part of Rack whose library is not installed.
          end
        end

        def refuse_old_rails
          return if isolation? || !defined?(::ActiveRecord.version)

          raise Config::ConfigError, "fibers need Rails 7.0 or later: ActiveRecord #{::ActiveRecord.version} gives " \
                                     "all fibers of a thread the same connection; use threads"
        end

        def isolation?
          defined?(::ActiveSupport) && ::ActiveSupport.const_defined?(:IsolatedExecutionState)
        end

        # Returns the connections that were leased during the boot. They belong to the thread of the mold, so no
        # worker could return them.
        def release_connections
          ::ActiveRecord::Base.connection_handler.clear_active_connections! if records?
        end

        # Whether ActiveRecord::Base is loaded. The name of the constant must not be used here, because that would load
        # it.
        def records?
          defined?(::ActiveRecord) && !::ActiveRecord.autoload?(:Base)
        end

        private_class_method :load_constants, :refuse_old_rails, :isolation?, :release_connections, :records?
      end
    end
  end
end
