# frozen_string_literal: true

require "test_helper"

class ReactorTimerTest < Support::ReactorTest
  module Cases
    def test_every_is_called_until_it_is_cancelled
      timer = @reactor.every(0.001) { (@seen << :tick).size == 3 && @reactor.cancel(timer) }
      run_reactor
      assert_equal %i[tick] * 3, @seen
    end

    def test_times_that_a_slow_block_misses_are_left_out
      timer = @reactor.every(0.001) { sleep(0.02).then { (@seen << :tick).size == 2 && @reactor.cancel(timer) } }
      run_reactor
      assert_equal 2, @seen.size
    end

    def test_a_timer_that_is_cancelled_is_not_called
      timer = @reactor.after(60) { flunk }
      @reactor.after(0) { @reactor.cancel(timer) }
      run_reactor
    end

    def test_what_is_no_time_is_refused
      ["1", nil, -1].each { |time| assert_raises(ArgumentError) { @reactor.after(time) {} } }
      assert_raises(ArgumentError) { @reactor.every(0) {} }
    end

    def test_ticks_are_called_in_their_order_and_may_tick_again
      @reactor.next_tick { (@seen << 1) && @reactor.next_tick { @seen << 3 } }
      @reactor.next_tick { @seen << 2 }
      run_reactor
      assert_equal [1, 2, 3], @seen
    end
  end

  include Cases

  class Stressed < Support::ReactorTest
    include Stress
    include Cases
  end

  # Under GC.stress, all timers are late.
  def test_timers_are_called_in_their_order
    times = [0.3, 0.1, 0.2].map do |seconds|
      @reactor.after(seconds) { @seen << seconds }
      [Support::Eventually.now + seconds, seconds]
    end
    run_reactor
    assert_equal times.sort.map(&:last), @seen
  end
end
