# frozen_string_literal: true

require_relative "../response/error_report"

module Carat
  module Warmup
    # Connections that the application has opened while it was loaded. A forked process would share their sockets, so
    # they are closed before; each of these libraries opens new ones when it needs them.
    module Connections
      # Sequel's names for a database in SQLite that is gone when its connection closes.
      IN_MEMORY = [nil, "", ":memory:", :memory, /\Afile::memory:/].freeze
      private_constant :IN_MEMORY

      module_function

      # Nothing is loaded that the application has not loaded; `log` is where words for the operator go.
      def close(log: $stderr)
        each(log, :pools, &:disconnect!)
        each(log, :databases) { |database| database.disconnect unless in_memory?(database) }
        each(log, :clients, &:close)
      end

      # One that cannot be closed, such as a half-built one, keeps none of the others open.
      def each(log, holders)
        attempt(log) { send(holders).each { |holder| attempt(log) { yield holder } } }
      end

      def attempt(log)
        yield
      rescue StandardError => e
        log.write("carat: mold: a connection cannot be closed before the fork: #{Response::ErrorReport.new(e)}")
      end

      # ActiveRecord's.
      def pools
        return [] unless loaded?(:ActiveRecord) && !::ActiveRecord.autoload?(:Base)

        handlers.flat_map { |handler| pools_of(handler) }
      end

      # Rails 6.1 and 7.0 have one for each role, unless they are told otherwise.
      def handlers
        base = ::ActiveRecord::Base
        legacy = [::ActiveRecord, base].find { |owner| owner.respond_to?(:legacy_connection_handling) }
        others = legacy&.legacy_connection_handling ? base.connection_handlers.values : []
        [base.connection_handler, *others].uniq
      end

      # Before 7.1, the pools of other roles than the current one were to be had by this name only.
      def pools_of(handler)
        every = ::ActiveRecord.version < Gem::Version.new("7.1")
        every ? handler.all_connection_pools : handler.connection_pool_list(:all)
      end

      # Sequel's.
      def databases
        loaded?(:Sequel) && defined?(::Sequel::DATABASES) ? ::Sequel::DATABASES : []
      end

      def in_memory?(database)
        database.database_type == :sqlite && IN_MEMORY.any? { |name| name === database.opts[:database] } # rubocop:disable Style/CaseEquality
      end

      # Those of Redis in pools, too: nobody but the objects themselves knows of all.
      def clients
        classes = %i[Redis RedisClient].select { |name| loaded?(name) }.map { |name| Object.const_get(name) }
        classes.grep(Class).flat_map { |type| ObjectSpace.each_object(type).to_a }
      end

      def loaded?(name)
        Object.const_defined?(name) && !Object.autoload?(name)
      end

      private_class_method :each, :attempt, :pools, :handlers, :pools_of, :databases, :in_memory?, :clients, :loaded?
    end
  end
end
