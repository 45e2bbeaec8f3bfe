# frozen_string_literal: true

require "test_helper"

class ReactorTest < Support::ReactorTest
  module Cases
    def test_it_returns_at_once_when_there_is_nothing_to_wait_for
      run_reactor
    end

    def test_a_block_that_waits_keeps_no_other_waiting
      @reactor.next_tick { @seen << @near.readpartial(1) }
      @reactor.after(0.001) { @far.write("x") && @seen << :wrote }
      run_reactor
      assert_equal [:wrote, "x"], @seen
    end

    def test_stop_detaches_everything
      @reactor.attach(:read, @near) { flunk }
      @reactor.every(60) { flunk }
      @reactor.after(0) { @reactor.stop }
      run_reactor
      refute @reactor.detach(:read, @near)
    end

    def test_it_may_run_again
      2.times do |number|
        @reactor.next_tick { @seen << number }
        run_reactor
      end
      assert_equal [0, 1], @seen
    end

    def test_other_threads_attach_and_stop
      @reactor.attach(:read, @near) { |io| @seen << io.readpartial(1) }
      other = Thread.new do
        @far.write("x")
        Support::Eventually.eventually { @seen == ["x"] }
        @reactor.next_tick { @seen << :tick }
        timer = @reactor.every(60) { flunk }
        @reactor.cancel(timer)
        Support::Eventually.eventually { @seen == ["x", :tick] }
        @reactor.stop
      end
      run_reactor
      other.join
    end

    def test_several_run_at_once_each_in_its_thread
      reactors = Array.new(3) { Carat::Reactor.new }
      threads = reactors.map.with_index do |reactor, number|
        3.times { |tick| reactor.after(tick * 0.001) { @seen << [number, tick] } }
        Thread.new { reactor.run }
      end
      threads.each(&:join)
      3.times { |number| assert_equal [0, 1, 2], @seen.select { |one, _| one == number }.map(&:last) }
    end

    def test_an_error_ends_the_run_which_raises_it
      @reactor.attach(:read, @near) { flunk }
      @reactor.after(0) { raise NotImplementedError, "this" }
      assert_equal "this", assert_raises(NotImplementedError) { run_reactor }.message
    end

    def test_errors_go_to_the_handler_and_everything_goes_on
      @reactor = Carat::Reactor.new { |error| @seen << error.message }
      timer = @reactor.every(0.001) { @seen.size == 2 ? @reactor.cancel(timer) : raise(LoadError, "again") }
      run_reactor
      assert_equal %w[again again], @seen
    end

    def test_it_runs_once_at_a_time
      @reactor.next_tick { assert_raises(Carat::SchedulerError) { @reactor.run } }
      run_reactor
    end

    def test_inside_of_a_scheduler_only_its_fiber_waits
      @reactor.attach(:read, @near) { |io| @reactor.detach(:read, io).then { @seen << :attached } }
      fibers do
        go { @reactor.run.then { @seen << :ran } }
        go { @far.write("x").then { @seen << :other } }
      end
      assert_equal %i[other attached ran], @seen
    end

    def test_a_run_inside_of_a_scheduler_returns_when_its_blocks_have_ended
      fibers do
        @reactor.next_tick { give_way_after_stop && @seen << :block }
        @reactor.run.then { @seen << :first_run }
        @reactor.after(0) { @seen << :second_block }
        @reactor.run
      end
      assert_equal %i[block first_run second_block], @seen
    end

    def test_a_run_that_is_interrupted_leaves_nothing_to_the_next_one
      fibers do
        @reactor.attach(:read, @near) { flunk }
        runner = go { assert_raises(KeyError) { @reactor.run } }
        @reactor.next_tick { runner.raise(KeyError).then { give_way && @seen << :late } }
        give_way_until { @seen.any? }
        @far.write("x")
        @reactor.after(0) { @seen << :next_run }
        @reactor.run
      end
      assert_equal %i[late next_run], @seen
    end

    def test_a_forked_process_has_reactors_of_its_own
      read, write = IO.pipe
      @reactor.attach(:read, @near) { flunk }
      @reactor.next_tick do
        Process.wait(fork { child(write) })
        @reactor.stop
      end
      run_reactor
      assert_equal "child", read.readpartial(10)
    end

    private

    # Long enough for others to run that can.
    def give_way
      10.times { sleep(0) }
    end

    def give_way_after_stop
      @reactor.stop
      give_way
    end

    def child(write)
      reactor = Carat::Reactor.new
      Thread.new { reactor.next_tick { write.write("child") }.then { reactor.run } }.join
    ensure
      exit!(0)
    end
  end

  include Cases

  class Stressed < Support::ReactorTest
    include Stress
    include Cases
  end
end
