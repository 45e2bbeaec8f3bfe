# frozen_string_literal: true

require "test_helper"
require "carat/processes/double_fork"

module Carat
  class DoubleForkTest < Minitest::Test
    def test_it_does_not_live_without_the_parent_that_it_was_promised
      reader, writer = IO.pipe
      writer.write("alive") && exit! if Processes::DoubleFork.new(0).fork
      writer.close
      assert_equal "", reader.read
    ensure
      reader.close
    end

    def test_the_process_in_between_ends_without_at_exit_handlers
      reader, writer = IO.pipe
      child = Process.fork do
        at_exit { writer.write("handled") && exit!(0) }
        Processes::DoubleFork.new(0).fork
        exit!(0)
      end
      writer.close
      Process.wait(child)
      assert_equal "", reader.read
    ensure
      reader.close
    end
  end
end
