# frozen_string_literal: true

require "logger" # concurrent-ruby 1.3.4 and older need it
require "minitest/autorun"
require "concurrent"
require "carat/warmup/thread_origin"

module Carat
  class ThreadOriginTest < Minitest::Test
    def test_the_gem_that_started_a_thread_is_named
      pool = Concurrent::FixedThreadPool.new(1)
      queue = Queue.new
      pool.post { queue << Thread.current }
      origin = Warmup::ThreadOrigin.new(queue.pop)

      assert_match(/\Aconcurrent-ruby-\d/, origin.gem)
      assert_match(/ruby_thread_pool_executor\.rb:\d+.* \(gem concurrent-ruby-\d[\d.]*\)\z/, origin.to_s)
    ensure
      pool.kill
    end

    def test_a_thread_whose_block_new_relic_has_wrapped_comes_from_the_block
      wrap = eval("proc { |block| proc { block.call } }", binding, # rubocop:disable Security/Eval -- it names the file
                  "/gems/newrelic_rpm-10.5.0/lib/new_relic/agent/tracer.rb")
      gate = Queue.new
      thread = Thread.new(&wrap.call(-> { gate.pop }))
      Thread.pass until thread.stop?

      assert_equal __FILE__, Warmup::ThreadOrigin.new(thread).path
    ensure
      gate.close
      thread.join
    end

    def test_a_thread_of_the_application_has_no_gem
      thread = Thread.new { Thread.stop }

      assert_nil Warmup::ThreadOrigin.new(thread).gem
      assert_match(/thread_origin_test\.rb:\d+/, Warmup::ThreadOrigin.new(thread).to_s)
    ensure
      thread.kill
    end
  end
end
