# frozen_string_literal: true

require "test_helper"
require "carat/native"

module Native
  class ControlTest < Minitest::Test
    def setup
      @edge = Support::ControlHarness.new
      @control = Carat::Native::Control.new(@edge.far)
    end

    def teardown
      @control.close
      @edge.close
    end

    def test_it_says_who_it_is
      %i[mold worker].each.with_index(1) do |kind, code|
        @control.hello(kind)
        assert_equal [13, Process.pid, code, 0], @edge.expect(:hello).unpack("S<L<CS<")
      end
      assert_raises(ArgumentError) { @control.hello(:edge) }
    end

    def test_it_tells_of_itself
      @control.ready
      @control.leaving
      @control.boot_failed("config.ru:1: no")
      @control.stack(3, 7, "here")
      @control.stats("{}")
      @control.not_fork_safe("librdkafka")
      @control.fork_safe
      frames = Array.new(7) { @edge.frame }
      assert_equal [[:ready, ""], [:leaving, ""], [:boot_failed, "config.ru:1: no"], [:stack, "\x03\0\x07\0\0\0here"],
                    [:stats, "{}"], [:not_fork_safe, "librdkafka"], [:fork_safe, ""]], frames
    end

    def test_it_receives_orders
      signals = %i[ask_stats ask_fork_safety drain].map { |kind| Support::Wire.frame(kind) }
      orders = [Support::Wire.ask_stack(2, 7), *signals, Support::Wire.frame(:promote, [3].pack("L<"))]
      @edge.send_frame(orders.join)
      expected = [[:ask_stack, 2, 7], [:ask_stats], [:ask_fork_safety], [:drain], [:promote, 3]]
      assert_equal expected, Array.new(5) { @control.receive }
    end

    def test_a_worker_comes_with_its_descriptors
      files = Array.new(5) { File.open(__FILE__, "r+") }
      @edge.send_frame(Support::Wire.fork_worker(7, 1, 2), files)
      kind, worker, generation, control, lanes = @control.receive
      assert_equal [:fork_worker, 7, 1], [kind, worker, generation]
      assert_equal [2, 2], lanes.map(&:size)
      ios = [control, *lanes.flatten]
      assert_equal [files.first.stat.ino], ios.map { |io| io.stat.ino }.uniq
      assert(ios.all?(&:close_on_exec?))
    ensure
      [*files, *ios].each(&:close)
    end

    def test_a_worker_without_its_descriptors_is_an_error
      @edge.send_frame(Support::Wire.fork_worker(7, 1, 2))
      assert_raises(Carat::Native::LinkError) { @control.receive }
    end

    def test_an_order_that_has_no_place_here_is_an_error
      @edge.send_frame(Support::Wire.frame(:ready))
      assert_raises(Carat::Native::LinkError) { @control.receive }
    end

    def test_the_end_of_the_edge_is_nil_and_what_is_told_afterwards_is_lost
      @edge.close
      assert_nil @control.receive
      @control.leaving
    end

    def test_waiting_lets_other_threads_and_signal_handlers_work
      previous = trap("USR2") { @control.leaving }
      waiting = Thread.new { @control.receive }
      Process.kill("USR2", Process.pid)
      @edge.expect(:leaving)
      @edge.send_frame(Support::Wire.frame(:drain))
      assert_equal [:drain], waiting.value
    ensure
      trap("USR2", previous)
    end

    def test_the_socket_is_taken_over
      assert_predicate @edge.far, :closed?
      error = assert_raises(IOError) { Carat::Native::Control.new(@edge.far) }
      assert_equal "closed stream", error.message
      assert_raises(TypeError) { Carat::Native::Control.new(3) }
    end

    def test_a_closed_socket_is_an_io_error
      @control.close
      assert_raises(IOError) { @control.receive }
    end
  end
end
