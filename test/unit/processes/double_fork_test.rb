# frozen_string_literal: true

require "test_helper"
require "carat/processes/double_fork"

module Carat
  class DoubleForkTest < Minitest::Test
    def test_new_process_exits_unless_the_edge_is_its_parent
      reader, writer = IO.pipe
      writer.write("alive") && exit! if Processes::DoubleFork.new(0).fork
      writer.close
      assert_equal "", reader.read
    ensure
      reader.close
    end

    def test_intermediate_process_runs_no_at_exit_blocks
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
