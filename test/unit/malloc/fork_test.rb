# frozen_string_literal: true

require "minitest/autorun"
require "timeout"
require_relative "../../support/preloaded"

module Malloc
  # jemalloc 5.2 could leave a lock taken in a child that was forked while another thread allocated.
  class ForkTest < Minitest::Test
    include Support::Preloaded

    # Threads allocate with Ruby's lock and, in zlib, without it; each gives way to the one that forks.
    PROGRAM = <<~RUBY
      require "timeout"
      require "zlib"
      text = Random.new(1).bytes(40_000)
      work = [-> { Zlib.deflate(text, 1) }, -> { Array.new(50) { "x" * rand(5000) } }]
      5.times { |number| Thread.new { loop { [work[number % 2].call, Thread.pass] } } }
      hung = 0
      1000.times do
        child = fork do
          500.times { "y" * rand(20_000) }
          exit!(0)
        end
        Timeout.timeout(30) { Process.wait(child) }
        hung += 1 unless $?.success?
      rescue Timeout::Error
        Process.kill(:KILL, child)
        hung += 1
      end
      $stdout.write(hung)
      $stdout.flush
      exit!(0)
    RUBY

    def test_a_thousand_children_of_a_busy_process_allocate_and_end
      assert_equal "0", preloaded(PROGRAM)
    end
  end
end
