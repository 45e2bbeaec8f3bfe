# frozen_string_literal: true

require "test_helper"

module Scheduler
  # The driver `pg` with its defaults.
  class PgTest < Support::PostgresTest
    BIG = 50 * 1024 * 1024

    def test_ten_queries_wait_at_once_in_one_thread
      done = fibers do
        finished = []
        hold_until_waiting(10) { 10.times { |number| go { finished << number if connect.exec(WAIT) } } }
        finished.tap { give_way_until { finished.size == 10 } }
      end
      assert_equal (0..9).to_a, done.sort
    end

    def test_a_large_result_arrives_while_others_run
      size, turns = fibers do
        fiber = go { @size = connect.exec("select repeat('x', #{BIG})").getvalue(0, 0).bytesize }
        [fiber, count_turns(fiber)].then { |_, count| [@size, count] }
      end
      assert_equal BIG, size
      assert_operator turns, :>, 10
    end

    def test_copy_goes_both_ways
      lines = Array.new(50_000) { |number| "#{number}\t#{"carat " * 20}\n" }
      copied = fibers do
        connection = connect
        connection.exec("create temporary table copies (number int, text text)")
        connection.copy_data("copy copies from stdin") { lines.each { |line| connection.put_copy_data(line) } }
        read_copies(connection)
      end
      assert_equal lines.size, copied.size
      assert_equal lines.join.hash, copied.join.hash
    end

    def test_a_notification_wakes_the_fiber_that_waits_for_it
      note = fibers do
        listener = connect
        listener.exec("listen news")
        go { connect.exec("notify news, 'hello'") }
        listener.wait_for_notify(1000) { |_channel, _pid, text| @note = text }
        @note
      end
      assert_equal "hello", note
    end

    def test_waiting_for_a_notification_gives_up_after_its_time
      assert_nil(fibers { connect.wait_for_notify(0.001) })
    end

    def test_each_fiber_has_its_own_transaction
      fibers do
        connect.exec("create table accounts (amount int); insert into accounts values (0)")
        10.times { go { add_one_in_a_transaction } }
      end
      assert_equal [{ "amount" => "10" }], postgres.execute("select amount from accounts")
    ensure
      postgres.execute("drop table accounts")
    end

    private

    # How often another fiber runs until the given one has ended.
    def count_turns(fiber)
      turns = 0
      turns += 1 while fiber.alive? && sleep(0)
      turns
    end

    def read_copies(connection)
      lines = []
      connection.copy_data("copy copies to stdout") do
        while (line = connection.get_copy_data)
          lines << line
        end
      end
      lines
    end

    def add_one_in_a_transaction
      connect.transaction do |connection|
        amount = connection.exec("select amount from accounts for update").getvalue(0, 0).to_i
        connection.exec_params("update accounts set amount = $1", [amount + 1])
      end
    end
  end
end
