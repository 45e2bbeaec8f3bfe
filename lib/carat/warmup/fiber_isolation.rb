# frozen_string_literal: true

require_relative "../config/config_error"

module Carat
  module Warmup
    # Lets libraries that keep something for each thread keep it for each fiber: with fibers, all requests of a worker
    # run in one thread, and would share a database connection and the transaction on it.
    module FiberIsolation
      AUTOLOAD_NEEDS_THREADS = RUBY_VERSION < "3.2"
      private_constant :AUTOLOAD_NEEDS_THREADS

      module_function

      # To be called when the application has been loaded, before it is forked; `fibers` is how many requests a worker
      # runs at once, `log` where words for the operator go. Raises ConfigError for an ActiveRecord that cannot do it.
      def establish(fibers, log: $stderr)
        ::Sequel.extension(:fiber_concurrency) if defined?(::Sequel.extension)
        load_constants(::Rack) if defined?(::Rack) && AUTOLOAD_NEEDS_THREADS
        refuse_old_rails
        return unless isolation?

        give_connections_back
        ::ActiveSupport::IsolatedExecutionState.isolation_level = :fiber
        scarce_pools(fibers).each do |pool|
          log.write("carat: mold: #{fibers} fibers of a worker share #{pool.size} connections to the database " \
                    "#{pool.db_config.name.inspect}: those that find none free wait for #{pool.checkout_timeout} s\n")
        end
      end

      # While one fiber autoloads a constant, Ruby before 3.2 tells the others that there is none. So what Rack would
      # load with the first requests is loaded now.
      def load_constants(owner)
        owner.constants(false).each do |name|
          was_ahead = owner.autoload?(name)
          constant = owner.const_get(name)
          load_constants(constant) if was_ahead && constant.is_a?(Module)
        rescue LoadError
          # It needs a library that is not there, and nobody has asked for it.
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

      # What the application's boot has left leased belongs to the mold's thread, and nobody could give it back any
      # more.
      def give_connections_back
        ::ActiveRecord::Base.connection_handler.clear_active_connections! if records?
      end

      def scarce_pools(fibers)
        return [] unless records?

        ::ActiveRecord::Base.connection_handler.connection_pool_list.select { |pool| pool.size < fibers }
      end

      # Whether ActiveRecord::Base is there; naming it would load it.
      def records?
        defined?(::ActiveRecord) && !::ActiveRecord.autoload?(:Base)
      end

      private_class_method :load_constants, :refuse_old_rails, :isolation?, :give_connections_back, :scarce_pools,
                           :records?
    end
  end
end
