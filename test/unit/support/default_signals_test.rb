# frozen_string_literal: true

require "open3"
require "rbconfig"
require "test_helper"

class DefaultSignalsTest < Minitest::Test
  LIBRARY = File.expand_path("../../support/default_signals", __dir__)
  PROGRAM = <<~RUBY
    Support::DefaultSignals.restore
    child = spawn(#{RbConfig.ruby.dump}, "-e", "$stdout.puts; $stdout.flush; sleep", err: File::NULL)
    $stdin.gets
    Process.kill(:INT, child)
    puts Process.wait2(child).last.termsig
  RUBY

  def test_child_of_a_suite_in_the_background_can_be_interrupted
    background = ["sh", "-c", "trap '' INT QUIT; exec \"$@\"", "sh", RbConfig.ruby, "-r", LIBRARY, "-e", PROGRAM]
    Open3.popen2(*background) do |input, output, _|
      output.gets # the child runs
      input.puts

      assert_equal "#{Signal.list.fetch("INT")}\n", output.gets
    end
  end
end
