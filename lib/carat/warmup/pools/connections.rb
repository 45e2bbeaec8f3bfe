# frozen_string_literal: true

module Carat
  module Warmup
    # Closes the connections that the application has opened while it was loaded: forked processes would share their
    # sockets. Each of these libraries opens new ones when it needs them.
    module Connections
      # Sequel's names for an SQLite database that vanishes with its connection.
      IN_MEMORY = [nil, "", ":memory:", :memory, /\Afile::memory:/].freeze
      # How long a thread may take to finish a request of Net::HTTP before its connection is closed.
      REQUEST_SECONDS = 1
      private_constant :IN_MEMORY, :REQUEST_SECONDS

      module_function

      # Loads no library that the application has not loaded. Warnings go to the ProcessLog `log`.
      def close(log:)
        each(log, :pools, &:disconnect!)
        each(log, :databases) { |database| database.disconnect unless in_memory?(database) }
        each(log, :clients, &:close)
        each(log, :sockets, &:close)
      end

      # If a connection cannot be closed, such as a half-open one, the others still are.
      def each(log, holders)
        attempt(log) { send(holders).each { |holder| attempt(log) { yield holder } } }
      end

      def attempt(log)
        yield
      rescue StandardError => e
        log.failure("cannot close a connection before the fork", e)
      end

      # Connection pools of ActiveRecord.
      def pools
        return [] unless loaded?(:ActiveRecord) && !::ActiveRecord.autoload?(:Base)

        handlers.flat_map { |handler| pools_of(handler) }
      end

      # Rails 6.1 and 7.0 have one handler for each role, unless configured otherwise.
      def handlers
        base = ::ActiveRecord::Base
        legacy = [::ActiveRecord, base].find { |owner| owner.respond_to?(:legacy_connection_handling) }
        others = legacy&.legacy_connection_handling ? base.connection_handlers.values : []
        [base.connection_handler, *others].uniq
      end

      # Before 7.1, only this method returns the pools of all roles.
      def pools_of(handler)
        every = ::ActiveRecord.version < Gem::Version.new("7.1")
        every ? handler.all_connection_pools : handler.connection_pool_list(:all)
      end

      # Databases of Sequel.
      def databases
        loaded?(:Sequel) && defined?(::Sequel::DATABASES) ? ::Sequel::DATABASES : []
      end

      def in_memory?(database)
        database.database_type == :sqlite && IN_MEMORY.any? { |name| name === database.opts[:database] } # rubocop:disable Style/CaseEquality
      end

      # Clients of Redis, also those in pools: only the object space lists them all.
      def clients
        classes = %i[Redis RedisClient].select { |name| loaded?(name) }.map { |name| Object.const_get(name) }
        classes.grep(Class).flat_map { |type| ObjectSpace.each_object(type).to_a }
      end

      # The sockets that Net::HTTP keeps open. Net::HTTP replaces a closed one at the next request and keeps the new
      # one; after `finish`, it would open one for each request. Agents have threads that may be in a request.
      def sockets
        return [] unless loaded?(:Net) && ::Net.const_defined?(:HTTP) && !::Net.autoload?(:HTTP)

        deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + REQUEST_SECONDS
        sleep(0.01) while requesting? && Process.clock_gettime(Process::CLOCK_MONOTONIC) < deadline
        ObjectSpace.each_object(::Net::HTTP).filter_map { |it| it.instance_variable_get(:@socket) }.reject(&:closed?)
      end

      def requesting?
        (Thread.list - [Thread.current]).any? { |it| it.backtrace&.any? { |line| line.include?("/net/http.rb:") } }
      end

      def loaded?(name)
        Object.const_defined?(name) && !Object.autoload?(name)
      end

      private_class_method :each, :attempt, :pools, :handlers, :pools_of, :databases, :in_memory?, :clients, :sockets,
                           :requesting?, :loaded?
    end
  end
end
