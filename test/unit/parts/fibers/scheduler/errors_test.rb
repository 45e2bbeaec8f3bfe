# frozen_string_literal: true

require "test_helper"

module Scheduler
  # Errors that no fiber rescues.
  class ErrorsTest < Support::SchedulerTest
    also_under_stress

    def test_an_error_ends_its_fiber_alone_and_is_raised_at_the_end
      ended = false
      error = nil
      _, printed = capture_io do
        error = assert_raises(KeyError) do
          fibers do
            Thread.current.report_on_exception = true
            go { raise KeyError, "no such key" }
            go { sleep(0.001) && ended = true }
          end
        end
      end
      assert_equal ["no such key", true], [error.message, ended]
      assert_includes printed, "terminated with exception"
    end

    def test_the_error_of_the_block_is_printed_while_others_still_run
      reader, writer = IO.pipe
      error = nil
      _, printed = capture_io do
        other = Thread.new { close_when_printed(writer, "no such key") }
        error = error_of { go { reader.read } && raise(KeyError, "no such key") }
        other.join
      end
      assert_instance_of KeyError, error
      assert_equal 1, printed.scan("terminated with exception").size
    end

    def test_the_error_of_the_block_is_not_printed_when_it_is_raised_at_once
      _, printed = capture_io { assert_instance_of KeyError, error_of { sleep(0.001) && raise(KeyError) } }
      assert_empty printed
    end

    def test_of_two_errors_the_first_is_raised_and_both_are_printed
      first, last = KeyError.new("first"), IndexError.new("last")
      _, printed = capture_io do
        assert_same first, error_of { go { sleep(0.001) && raise(last) } && raise(first) }
        assert_same first, error_of { go { raise first } && raise(last) }
      end
      assert_equal 4, printed.scan("terminated with exception").size
    end

    def test_an_error_that_is_no_standard_error_ends_its_fiber_alone_too
      ended = 0
      [NotImplementedError, LoadError, SystemStackError].each do |error|
        assert_raises(error) do
          fibers do
            go { sleep(0.001) && ended += 1 }
            go { raise error }
          end
        end
      end
      assert_equal 3, ended
    end

    private

    # The error of Carat.run in a thread that reports errors, as threads do by default and those of `in_thread` do not.
    def error_of(&block)
      in_thread do
        Thread.pass while Thread.current.report_on_exception
        Thread.current.report_on_exception = true
        Carat.run { around(&block) }
      rescue StandardError => e
        e
      end
    end

    def close_when_printed(io, text)
      Support::Eventually.eventually(within: deadline_seconds) { $stderr.string.include?(text) }
      io.close
    end
  end
end
