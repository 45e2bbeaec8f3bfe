# frozen_string_literal: true

require "test_helper"
require "sequel"
require "timeout"

Sequel.extension :fiber_concurrency

module Scheduler
  # Sequel with PostgreSQL, and a pool that is smaller than the number of fibers.
  class SequelTest < Support::PostgresTest
    def setup
      super
      @databases = []
    end

    def teardown
      @databases.each(&:disconnect)
      super
    end

    def test_fifty_fibers_take_turns_with_five_connections
      database = open_database(5)
      done = fibers do
        finished = []
        hold_until_waiting(5) { 50.times { |number| go { finished << number if database.fetch(WAIT).all } } }
        finished.tap { give_way_until { finished.size == 50 && postgres.connections == 5 } }
      end
      assert_equal [(0...50).to_a, 5], [done.sort, database.pool.size]
    end

    def test_a_connection_goes_to_the_fiber_that_has_waited_longest
      database = open_database(1)
      order = []
      fibers { 20.times { |number| go { database.synchronize { order << number && database.get(1) } } } }
      assert_equal (0...20).to_a, order
    end

    def test_no_fiber_waits_forever
      database = open_database(1, pool_timeout: 0.01)
      fibers do
        fiber = nil
        hold_until_waiting(1) do
          fiber = go { database.fetch(WAIT).all }
          assert_raises(Sequel::PoolTimeout) { database.get(1) }
        end
        give_way_until { !fiber.alive? }
        assert_equal 1, database.get(1)
      end
    end

    def test_each_fiber_has_its_own_transaction
      database = open_database(2)
      fibers do
        seen = []
        database.transaction do
          mine = backend(database)
          go { seen << database.in_transaction? << (backend(database) == mine) }
          give_way_until { seen.size == 2 }
        end
        assert_equal [false, false], seen
      end
    end

    def test_a_fiber_whose_time_is_up_gives_its_connection_back
      database = open_database(1)
      fibers do
        assert_raises(Timeout::Error) { Timeout.timeout(0.05) { database.synchronize { sleep } } }
        assert_equal 1, database.get(1)
      end
    end

    def test_a_fiber_that_is_killed_gives_its_connection_back
      skip "Fiber#kill came with Ruby 3.3" unless Fiber.method_defined?(:kill)
      database = open_database(1)
      fibers do
        fiber = go { database.synchronize { sleep } }
        fiber.kill
        assert_equal 1, database.get(1)
      end
    end

    private

    def open_database(connections, **options)
      options = { max_connections: connections, keep_reference: false, **options }
      Sequel.connect(postgres.url, **options).tap { |database| @databases << database }
    end

    def backend(database)
      database.get(Sequel.function(:pg_backend_pid))
    end
  end
end
