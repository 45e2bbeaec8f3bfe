# frozen_string_literal: true

require "test_helper"
require "logger"
require "active_record"
require "support/needs"
require "support/postgres_test"

module Scheduler
  # ActiveRecord with PostgreSQL in fibers, without the server, and a pool that is smaller than their number.
  class ActiveRecordTest < Support::PostgresTest
    extend Support::Needs
    needs(ActiveRecord.version < Gem::Version.new("7.0") ? "fibers need Rails 7.0 or later" : nil)

    def setup
      super
      ActiveSupport::IsolatedExecutionState.isolation_level = :fiber
    end

    def teardown
      ActiveRecord::Base.remove_connection if @pool
      ActiveSupport::IsolatedExecutionState.isolation_level = :thread if @connections
      super if @connections
    end

    def test_fifty_fibers_take_turns_with_five_connections
      open_pool(5)
      done = fibers do
        finished = []
        hold_until_waiting(5) { 50.times { |number| go { finished << number if ask("#{WAIT}::text") } } }
        finished.tap { give_way_until { finished.size == 50 } }
      end
      assert_equal [(0...50).to_a, 5, 0], [done.sort, *@pool.stat.values_at(:connections, :busy)]
    end

    def test_no_fiber_waits_forever
      open_pool(1, checkout_timeout: 0.01)
      fibers do
        hold_until_waiting(1) do
          go { ask("#{WAIT}::text") }
          assert_raises(ActiveRecord::ConnectionTimeoutError) { ask("select 1") }
        end
        give_way_until { @pool.stat[:busy].zero? }
        assert_equal 1, ask("select 1")
      end
    end

    def test_each_fiber_has_its_own_transaction
      open_pool(2)
      fibers do
        seen = []
        ActiveRecord::Base.transaction do
          go { seen << ActiveRecord::Base.connection_pool.with_connection(&:transaction_open?) }
          give_way_until { seen.size == 1 }
        end
        assert_equal [false], seen
      end
    end

    def test_the_connection_of_a_fiber_that_has_ended_is_taken_back
      open_pool(1)
      fibers do
        go { @pool.lease_connection.select_value("select 1") }
        give_way_until { @pool.stat[:dead] == 1 }
        assert_equal 1, ask("select 1")
      end
    end

    private

    def open_pool(connections, **options)
      ActiveRecord::Base.establish_connection(url: postgres.url, pool: connections, checkout_timeout: 20, **options)
      @pool = ActiveRecord::Base.connection_pool
    end

    def ask(sql)
      @pool.with_connection { |connection| connection.select_value(sql) || true }
    end
  end
end
