# frozen_string_literal: true

require "minitest"
require "carat"
require "socket"
require "tmpdir"

module Support
  # A test of fibers under Carat::Scheduler. A call that blocks the thread never ends, and so misses the deadline.
  class SchedulerTest < Minitest::Test
    DEADLINE_SECONDS = 60
    # Each allocation marks the whole heap, and the suite's heap is large.
    STRESS_DEADLINE_SECONDS = 200

    # Repeats tests under GC.stress.
    module Stress
      private

      def deadline_seconds
        STRESS_DEADLINE_SECONDS
      end

      def around
        GC.stress = true
        yield
      ensure
        GC.stress = false
      end
    end

    # Repeats the tests of the class under GC.stress, in a subclass.
    def self.also_under_stress
      const_set(:UnderStress, Class.new(self) { include Stress })
    end

    private

    # Runs the block with Carat.run in a new thread and returns its value.
    def fibers(&block)
      in_thread { Carat.run { around(&block) } }
    end

    # Runs the block in a thread, which must end in time.
    def in_thread(&block)
      thread = Thread.new(&block)
      thread.report_on_exception = false
      return thread.value if thread.join(deadline_seconds)

      GC.stress = false
      stacks = ObjectSpace.each_object(Fiber).select(&:alive?).map { |fiber| fiber.backtrace.to_a.first(8).join("\n") }
      thread.kill
      flunk "the fibers did not end; they stood at\n#{stacks.join("\n\n")}"
    end

    def deadline_seconds
      DEADLINE_SECONDS
    end

    def around
      yield
    end

    # Starts a fiber.
    def go(&block)
      Fiber.schedule(&block)
    end

    # Forks a process that has a scheduler: since Ruby 4.0, it does not get that of its parent.
    def fork_with_scheduler(&block)
      fork { Fiber.scheduler ? block.call : Carat.run(&block) }
    end

    # Yields to the other fibers until the condition holds.
    def give_way_until
      sleep 0.001 until yield
    end

    # Two sockets that are connected.
    def tcp_pair
      server = TCPServer.new("127.0.0.1", 0)
      [TCPSocket.new("127.0.0.1", server.addr[1]), server.accept]
    ensure
      server.close
    end

    # Yields a file with this content.
    def with_file(content)
      Dir.mktmpdir do |directory|
        File.write("#{directory}/file", content)
        File.open("#{directory}/file", "r+b") { |file| yield file }
      end
    end

    def scheduler
      Fiber.scheduler
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # Computes without a wait.
    def spin(seconds)
      over = now + seconds
      true until now > over
      true
    end

    # The number of waiting fibers of this thread.
    def waiting
      Fiber.scheduler.waiting
    end
  end
end
