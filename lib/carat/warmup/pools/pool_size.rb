# frozen_string_literal: true

require_relative "../../log/counted"

module Carat
  module Warmup
    # Whether ActiveRecord's pools have a connection for each request that a worker runs at once.
    module PoolSize
      module_function

      # Warns of each smaller pool. Call it after the application has been loaded. `count` is how many a worker has of
      # `option`, such as :threads; warnings go to the ProcessLog `log`.
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

      # Rails 8.1 has another name for `pool`, and refuses both at once. -1 sets no limit there: the size is nil.
      def key(pool)
        given = %i[max_connections pool].find { |name| pool.db_config.configuration_hash.key?(name) }
        given || (pool.db_config.respond_to?(:max_connections) ? :max_connections : :pool)
      end

      private_class_method :scarce, :key
    end
  end
end
