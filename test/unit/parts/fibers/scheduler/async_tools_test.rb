# frozen_string_literal: true

require "test_helper"
require "socket"

module Scheduler
  # The async gem's tools for tasks: timeouts, semaphores, barriers, queues, clients.
  class AsyncToolsTest < Support::SchedulerTest
    needs Support::AsyncGem.obstacle
    also_under_stress

    def test_a_timeout_ends_what_waits
      fibers do
        assert_raises(Async::TimeoutError) { Sync { |task| task.with_timeout(0.001) { sleep } } }
        error = assert_raises(KeyError) { Sync { |task| task.with_timeout(0.001, KeyError, "late") { sleep } } }
        assert_equal "late", error.message
      end
    end

    def test_another_task_puts_a_timeout_off
      value = fibers do
        Sync do |task|
          task.with_timeout(5) do |timeout|
            assert_operator timeout.duration, :<=, 5
            task.async { timeout.duration = 0.001 }
            sleep
          end
        rescue Async::TimeoutError
          :late
        end
      end
      assert_equal :late, value
    end

    def test_a_timeout_that_was_moved_ends_with_its_block
      fibers { Sync { |task| task.with_timeout(5) { |timeout| timeout.duration = 0.001 } && sleep(0.005) } }
    end

    def test_a_semaphore_bounds_how_many_tasks_run
      running = most = 0
      fibers do
        Sync do
          semaphore = Async::Semaphore.new(2)
          Array.new(6) do
            semaphore.async do
              most = [most, running += 1].max
              sleep(0.001)
              running -= 1
            end
          end.each(&:wait)
        end
      end
      assert_equal [0, 2], [running, most]
    end

    def test_a_barrier_stops_its_tasks
      tasks = fibers do
        Sync do
          barrier = Async::Barrier.new
          Array.new(3) { barrier.async { sleep } }.tap { barrier.stop }
        end
      end
      assert_empty tasks.select(&:running?)
    end

    def test_an_idler_asks_for_the_load
      fibers do
        Sync do
          load = Fiber.scheduler.load
          assert_includes 0.0..1.0, load
          assert_equal :value, Async::Idler.new(1.1).async { sleep(0) && :value }.wait
        end
      end
    end

    def test_queues_conditions_and_notifications_wake_tasks
      fibers do
        Sync do |task|
          [Async::Queue.new, Async::Condition.new, Async::Notification.new].each do |one|
            waiter = task.async { one.wait }
            one.signal(:value)
            assert_equal :value, waiter.wait
          end
        end
      end
    end

    def test_a_client_of_the_async_gem
      require "async/http/internet"
      server = TCPServer.new("127.0.0.1", 0)
      url = "http://127.0.0.1:#{server.addr[1]}/"
      bodies = fibers do
        go { 2.times { answer(server.accept) } }
        Sync do |task|
          internet = Async::HTTP::Internet.new
          Array.new(2) { task.async { internet.get(url, &:read) } }.map(&:wait)
        ensure
          internet.close
        end
      end
      assert_equal %w[ok ok], bodies
    ensure
      server&.close
    end

    private

    def answer(client)
      go do
        client.gets("\r\n\r\n")
        client.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        client.close
      end
    end
  end
end
