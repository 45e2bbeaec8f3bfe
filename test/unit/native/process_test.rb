# frozen_string_literal: true

require "etc"
require "test_helper"
require "socket"
require "carat/native"

module Native
  class ProcessTest < Minitest::Test
    include Support::Forked

    # Whether Linux lets a process choose for how long it computes at a time.
    SLICES = Gem::Version.new(Etc.uname[:release][/\A\d+\.\d+/]) >= Gem::Version.new("6.12")

    def test_listeners_are_closed_and_nothing_else_is
      closed, others = forked do
        Carat::Native.close_listeners # those that other tests have left to the garbage collector
        listener = TCPServer.new("127.0.0.1", 0)
        others = [*UNIXSocket.pair, File.open(__FILE__), TCPSocket.new("127.0.0.1", listener.addr[1])]
        count = Carat::Native.close_listeners
        listener.autoclose = false
        [count, others.map { |io| io.stat.ftype }]
      end
      assert_equal [1, %w[socket socket file socket]], [closed, others]
    end

    def test_a_process_dies_with_its_parent
      reader, writer = IO.pipe
      parent = fork do
        fork { [Carat::Native.die_with_parent, writer.write("x"), sleep] }
        sleep
      end
      writer.close
      assert_equal "x", reader.readpartial(1)
      Process.kill(:KILL, parent)
      assert_equal "", reader.read # both have closed the pipe
    ensure
      Process.wait(parent)
      reader.close
    end

    def test_a_process_and_those_that_it_makes_compute_for_less_time_at_once_until_it_takes_that_back
      usual, short, again = forked do
        usual = slice
        Carat::Native.limit_slice(100_000)
        short = forked { slice }
        Carat::Native.limit_slice(0)
        [usual, short, slice]
      end
      assert_equal [SLICES ? 100_000 : usual, usual], [short, again]
    end

    def test_unused_part_of_the_stack_is_returned
      before, after = forked do
        descend(2000)
        used = stack_bytes
        Carat::Native.trim_stack
        [used, stack_bytes]
      end

      assert_operator before, :>, 600_000
      assert_operator after, :<, 400_000
    end

    def test_stacks_of_other_threads_stay
      refute(forked { Thread.new { Carat::Native.trim_stack }.value })
    end

    private

    # For how many nanoseconds this process may compute at a time.
    def slice
      File.read("/proc/self/sched")[/^se\.slice\s*:\s*(\d+)/, 1].to_i
    end

    # Nests calls from C to Ruby, which grow the machine stack. (With YJIT, `each` and `map` are Ruby.)
    def descend(levels)
      [levels].sum { |level| level.positive? ? descend(level - 1) : 0 }
    end

    def stack_bytes
      File.read("/proc/self/smaps")[/ \[stack\]\n.*?^Rss: +(\d+) kB/m, 1].to_i * 1024
    end
  end
end
