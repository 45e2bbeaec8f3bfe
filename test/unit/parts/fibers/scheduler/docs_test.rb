# frozen_string_literal: true

require "test_helper"
require "net/http"
require "socket"

module Scheduler
  # Each example of docs/scheduler.md runs.
  class DocsTest < Support::SchedulerTest
    PAGE = File.expand_path("../../../../../docs/scheduler.md", __dir__)
    EXAMPLES = File.read(PAGE).scan(/^```ruby\n(.*?)^```/m).flatten.freeze

    def test_twenty_requests_wait_together_in_one_thread
      server = TCPServer.new("127.0.0.1", 0)
      keeper = Thread.new { serve_when_all_have_come(server, 20) }
      urls = Array.new(20) { |number| "http://127.0.0.1:#{server.addr[1]}/#{number}" }
      bodies = in_thread { example(0, binding) }
      assert_equal urls.to_h { |url| [url, "ok"] }, bodies
    ensure
      keeper.kill
    end

    def test_a_thread_of_ones_own
      in_thread { example(1, binding) }
    end

    def test_errors_are_raised_at_the_end
      output, = capture_io { in_thread { example(2, binding) } }
      assert_equal "one of them\n", output
    end

    def test_a_pool
      in_thread { example(3, binding) }
    end

    def test_a_watch_of_runs
      over = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.2
      output, = capture_io { assert_operator in_thread { example(4, binding) }, :>, 0.05 }
      assert_match(/^ran for \d+\.\d+ s: #<Fiber:/, output)
    end

    def test_tasks_of_the_async_gem
      skip Support::AsyncGem.obstacle if Support::AsyncGem.obstacle
      server = TCPServer.new("127.0.0.1", 0)
      keeper = Thread.new { serve_when_all_have_come(server, 3) }
      urls = Array.new(3) { "http://127.0.0.1:#{server.addr[1]}/" }
      assert_equal %w[ok ok ok], in_thread { example(5, binding) }
    ensure
      keeper&.kill
    end

    def test_every_example_is_tested
      assert_equal 6, EXAMPLES.size
    end

    private

    def example(number, scope)
      scope.eval(EXAMPLES.fetch(number), PAGE)
    end

    # Responds to nobody before all have asked: a client that sends one request after another would wait for ever.
    def serve_when_all_have_come(server, count)
      clients = Array.new(count) { server.accept }
      clients.each do |client|
        client.gets("\r\n\r\n")
        client.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        client.close
      end
    end
  end
end
