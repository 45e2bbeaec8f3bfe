# frozen_string_literal: true

module Carat
  module Warmup
    # Closes the connections that the application has opened while it was loaded, because forked processes would share
    # their sockets. Each of the libraries opens new connections when it needs them.
    module Connections
      # The names in Sequel of an SQLite database that exists only as long as its connection.
      IN_MEMORY = [nil, "", ":memory:", :memory, /\Afile::memory:/].freeze
      # The seconds that a thread has to finish a request of Net::HTTP before its connection is closed.
      REQUEST_SECONDS = 1
      private_constant :IN_MEMORY, :REQUEST_SECONDS

      module_function

      # Closes the connections of libraries that the application has loaded. Warnings go to the ProcessLog `log`.
      def close(log:)
        each(log, :pools, &:disconnect!)
        each(log, :databases) { |database| database.disconnect unless in_memory?(database) }
        each(log, :clients, &:close)
        each(log, :sockets, &:close)
      end

      # Yields each of the objects that the method `holders` returns. If one connection cannot be closed, such as a
      # half-open one, the others still are.
      def each(log, holders)
        attempt(log) { send(holders).each { |holder| attempt(log) { yield holder } } }
      end

      def attempt(log)
        yield
      rescue StandardError => e
        log.failure("cannot close a connection before the fork", e)
      end

      # The connection pools of ActiveRecord.
      def pools
        return [] unless loaded?(:ActiveRecord) && !::ActiveRecord.autoload?(:Base)

        handlers.flat_map { |handler| pools_of(handler) }
      end

      # The connection handlers of ActiveRecord. Rails 6.1 and 7.0 have one for each role, unless configured otherwise.
      def handlers
        base = ::ActiveRecord::Base
        legacy = [::ActiveRecord, base].find { |owner| owner.respond_to?(:legacy_connection_handling) }
        others = legacy&.legacy_connection_handling ? base.connection_handlers.values : []
        [base.connection_handler, *others].uniq
      end

      # The pools of all roles. Before Rails 7.1, another method returns them.
      def pools_of(handler)
        every = ::ActiveRecord.version < Gem::Version.new("7.1")
        every ? handler.all_connection_pools : handler.connection_pool_list(:all)
      end

      # The databases of Sequel.
      def databases
        loaded?(:Sequel) && defined?(::Sequel::DATABASES) ? ::Sequel::DATABASES : []
      end

      def in_memory?(database)
        database.database_type == :sqlite && IN_MEMORY.any? { |name| name === database.opts[:database] } # rubocop:disable Style/CaseEquality
      end

      # The clients of Redis. They are looked up in the object space, because no other list has the clients within
      # connection pools.
      def clients
        classes = %i[Redis RedisClient].select { |name| loaded?(name) }.map { |name| Object.const_get(name) }
        classes.grep(Class).flat_map { |type| ObjectSpace.each_object(type).to_a }
      end

      # The sockets that Net::HTTP keeps open. They are closed directly: Net::HTTP replaces a closed socket at the next
      # request and keeps the new one, but after `finish` it would open one for each request. Threads of agents may be
      # in a request, whose end is waited for.
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
