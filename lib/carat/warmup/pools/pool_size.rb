# frozen_string_literal: true

require_relative "../../log/counted"

module Carat
  module Warmup
    # Checks that ActiveRecord's pools have a connection for each request that a worker runs at once.
    module PoolSize
      module_function

      # Warns of each pool with fewer connections. To be called after the application has been loaded. `count` is the
      # value of `option`, such as :threads. Warnings go to the ProcessLog `log`.
      def check(option, count, log:)
        scarce(count).each do |pool|
          connections = Log::Counted.of(pool.size, "connection")
          log.warn("#{count} #{option} of a worker share #{connections} to the database " \
                   "#{pool.db_config.name.inspect}: a request waits up to #{pool.checkout_timeout} s for a free one; " \
                   "set #{key(pool)} in config/database.yml to #{count}, or run fewer #{option}")
        end
      end

      def scarce(count)
        return [] if !defined?(::ActiveRecord) || ::ActiveRecord.autoload?(:Base)

        ::ActiveRecord::Base.connection_handler.connection_pool_list.select { |pool| pool.size&.<(count) }
      end

      # The key to set in config/database.yml. Rails 8.1 has another name for `pool`, and refuses both at once. The
      # value -1 means no limit there, and the size is nil.
      def key(pool)
        given = %i[max_connections pool].find { |name| pool.db_config.configuration_hash.key?(name) }
        given || (pool.db_config.respond_to?(:max_connections) ? :max_connections : :pool)
      end

      private_class_method :scarce, :key
    end
  end
end
