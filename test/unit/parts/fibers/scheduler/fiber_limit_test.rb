# frozen_string_literal: true

require "test_helper"
require "carat"

module Scheduler
  # The limit of the kernel: the stack of each fiber takes two mappings.
  class FiberLimitTest < Minitest::Test
    MOST_MAPPINGS = 200_000

    # Maps a file repeatedly until only a few thousand mappings are left, so that few fibers reach the limit.
    SCRIPT = <<~'RUBY'
      Warning[:experimental] = false
      require "carat"
      file = File.open("/proc/self/exe")
      taken = Array.new(Integer(ARGV[0]) - 6000) { IO::Buffer.map(file, 4096, 0, IO::Buffer::READONLY) }
      live = 1
      Carat.run do
        loop { Fiber.schedule { sleep } && live += 1 }
      rescue Carat::SchedulerError => e
        puts live, e.message, Thread.new { system("true") }.value
      ensure
        $stdout.flush
        exit!(taken.any?)
      end
    RUBY

    def test_the_error_is_clear_and_leaves_room_for_other_mappings
      skip "the kernel allows #{mappings} mappings" if mappings > MOST_MAPPINGS
      live, message, went_on = run_script(SCRIPT, mappings.to_s).lines(chomp: true)
      assert_includes 100..3000, Integer(live)
      assert_match(/\A#{live} fibers live in this process, and vm.max_map_count = #{mappings} has no room/, message)
      assert_equal "true", went_on
    end

    # In a process of its own, because other tests leave mappings behind.
    def test_fibers_that_have_ended_make_room
      script = 'require "carat"; Carat.run { 70_000.times { Fiber.schedule { nil } } }; print "done"'
      assert_equal "done", run_script(script)
    end

    private

    def mappings
      Integer(File.read("/proc/sys/vm/max_map_count"))
    end

    def run_script(script, *arguments)
      library = File.expand_path("../../../../../lib", __dir__)
      IO.popen([RbConfig.ruby, "-I#{library}", "-e", script, *arguments], err: %i[child out], &:read)
    end
  end
end
