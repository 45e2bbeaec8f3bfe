# frozen_string_literal: true

require "test_helper"

# Standard error is a pipe that nobody reads.
class LogPipeTest < Support::IntegrationTest
  APP = 'run ->(_env) { [200, {}, ["hello"]] }'
  # More than the pipe and what waits to be written hold.
  REQUESTS = 2000
  LONG = "/#{"x" * 1000}"

  def setup
    super
    @reader, @writer = IO.pipe
  end

  def teardown
    super
  ensure
    [@reader, @writer].each(&:close)
  end

  def test_requests_are_answered_and_the_stop_is_in_order
    server = full_pipe
    assert_equal "hello", server.get.body
    assert_equal 0, server.stop.exitstatus
  end

  def test_what_was_dropped_is_counted_when_the_log_is_read_again
    server = full_pipe
    reader = Support::DeadlineReader.new(@reader)
    reader.read_through("log lines dropped count=", Support::Eventually.now + 60)
    assert_operator reader.read_through("\n", Support::Eventually.now + 60).to_i, :>, 0
    assert_equal "hello", server.get.body
  end

  private

  def full_pipe
    server = serve(APP, args: ["--access-log"], spawn: { %i[out err] => @writer })
    client = server.connect
    REQUESTS.times { client.get(LONG) }
    server
  end
end
