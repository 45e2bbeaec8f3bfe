# frozen_string_literal: true

require "test_helper"
require "timeout"

module Scheduler
  # Failures between the driver `pg` and its server.
  class PgFailureTest < Support::PostgresTest
    # A lock is not enough when the server stops: it may end the holder first, and the others then get the lock.
    SLEEP = "select pg_sleep(1000)"

    def test_a_query_is_cancelled_by_another_fiber
      fibers do
        connection = connect
        holding do
          go { cancel_when_waiting(connection) }
          assert_raises(PG::QueryCanceled) { connection.exec(WAIT) }
        end
        assert_usable connection
      end
    end

    # The server goes on with the query: the next one on the connection would wait for it.
    def test_a_connection_is_busy_after_a_timeout_until_it_is_cancelled
      fibers do
        connection = connect
        holding do
          assert_raises(Timeout::Error) { Timeout.timeout(0.05) { connection.exec(WAIT) } }
          assert_equal PG::PQTRANS_ACTIVE, connection.transaction_status
          connection.cancel
        end
        assert_usable connection
      end
    end

    def test_a_timeout_within_a_transaction_cancels_the_query_and_rolls_back
      fibers do
        connection = connect
        holding do
          assert_raises(Timeout::Error) { Timeout.timeout(0.05) { connection.transaction { connection.exec(WAIT) } } }
        end
        assert_equal PG::PQTRANS_IDLE, connection.transaction_status
        assert_usable connection
      end
    end

    def test_a_server_that_stops_raises_in_every_fiber_that_waits
      fibers do
        errors = []
        connections = Array.new(10) { connect }
        stop_while(connections) { |connection| errors << assert_raises(PG::Error) { connection.exec(SLEEP) } }
        assert_equal 10, errors.size
        assert_raises(PG::ConnectionBad) { connect }
        postgres.start
        connections.each(&:reset)
        connections.each { |connection| assert_usable connection }
      end
    ensure
      postgres.start unless postgres.running?
    end

    private

    # Runs the block while WAIT blocks everybody.
    def holding
      holder = lock
      yield
    ensure
      holder.finish
    end

    def cancel_when_waiting(connection)
      give_way_until { waiting_queries == 1 }
      connection.cancel
    end

    # Stops the server while the block runs for each of the connections, in a fiber of its own.
    def stop_while(connections, *signal)
      working = connections.map { |connection| go { yield connection } }
      give_way_until { postgres.connections(like: SLEEP, state: "active") == connections.size }
      postgres.stop(*signal)
      give_way_until { working.none?(&:alive?) }
    end

    def assert_usable(connection)
      assert_equal [["1"]], connection.exec("select 1").values
    end
  end
end
