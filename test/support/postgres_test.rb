# frozen_string_literal: true

require_relative "postgres"
require_relative "scheduler_test"

module Support
  # A test of fibers that use PostgreSQL. Queries wait for a lock that the test holds, so it decides when they end.
  class PostgresTest < SchedulerTest
    LOCK = 4711
    WAIT = "select pg_advisory_xact_lock_shared(#{LOCK})"

    def setup
      @connections = []
    end

    def teardown
      @connections.each { |connection| connection.finish unless connection.finished? }
      super
    end

    private

    def postgres
      Postgres.shared
    end

    # A new connection, closed after the test.
    def connect(url = postgres.url)
      PG.connect(url).tap { |connection| @connections << connection && connection.set_notice_processor { nil } }
    end

    # A connection that keeps WAIT waiting until it is closed.
    def lock
      connect.tap { |holder| holder.exec("select pg_advisory_lock(#{LOCK})") }
    end

    # Runs the block while WAIT waits, yields to other fibers until `count` connections wait, and releases them.
    def hold_until_waiting(count)
      holder = lock
      yield
      give_way_until { waiting_queries == count }
      holder.finish
    end

    # The number of connections that run WAIT.
    def waiting_queries
      postgres.connections(like: "#{WAIT}%", state: "active")
    end
  end
end
