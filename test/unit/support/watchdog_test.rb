# frozen_string_literal: true

require "open3"
require "rbconfig"
require "stringio"
require "test_helper"

class WatchdogTest < Minitest::Test
  ROOT = File.expand_path("../../..", __dir__)
  PROGRAM = <<~RUBY
    require "open3"
    require "test_helper"

    class StuckTest < Minitest::Test
      def watchdog_seconds = 0.1
      def teardown = warn("torn down")
      def test_it_hangs
        Thread.stop
      rescue StandardError
        retry
      end
      def test_it_ends = nil
      def test_its_command_hangs = Open3.capture2("sleep", "1000")
    end
  RUBY

  def test_test_that_hangs_fails_with_the_backtraces_of_all_threads_and_is_torn_down
    output, status = Open3.capture2e(RbConfig.ruby, "-Itest", "-Ilib", "-e", PROGRAM, chdir: ROOT)

    assert_equal 1, status.exitstatus, output
    assert_match(/StuckTest#test_it_hangs:\n\S+Expired: not finished after 0 s\n#<Thread:.*-e:8:in `?.*test_it_hangs'/m,
                 output)
    assert_match(/StuckTest#test_its_command_hangs:\n\S+Expired: not.*^\d+ sleep 1000$/m, output)
    assert_equal 3, output.scan("torn down").size
    assert_match(/^3 runs, 0 assertions, 0 failures, 2 errors, 0 skips/, output)
  end

  def test_test_that_cannot_be_interrupted_ends_the_process
    ended = Queue.new
    out = StringIO.new
    watchdog = Support::Watchdog.new(out: out, exit: ->(status) { ended << status })
    Thread.handle_interrupt(Support::Watchdog::Expired => :never) do
      stuck = Thread.new { watchdog.watch("Stuck#test", -Support::Watchdog::GRACE_SECONDS) { ended.pop } }
      stuck.report_on_exception = false
      assert_raises(Support::Watchdog::Expired) { stuck.join }
    end

    assert_includes out.string, "Stuck#test missed its deadline and cannot be interrupted\n#<Thread:"
  end
end
