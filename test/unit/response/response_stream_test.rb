# frozen_string_literal: true

require "test_helper"

class ResponseStreamTest < Support::NativeTest
  # A streaming body of Rack 3: it has no each.
  class Body
    attr_reader :closed_count

    def initialize(&call)
      @call = call
      @closed_count = 0
    end

    def call(stream)
      @call.call(stream)
    end

    def close
      @closed_count += 1
    end
  end

  def test_headers_are_sent_before_the_body_is_called
    gate = Queue.new
    lane = streaming { |stream| stream.write(gate.pop, "!") }
    lane.request
    assert_equal :stream, lane.response.body
    gate << "late"
    assert_equal ["late!", :end], lane.stream
  end

  def test_it_writes_like_an_io
    results = []
    lane = streaming do |stream|
      results << stream.write("ab", :c) << (stream << "d" << "e").equal?(stream) << stream.flush.equal?(stream)
      results << stream.closed?
      stream.close_write
      results << stream.closed? << stream.close
      results << assert_raises(IOError) { stream.write("x") }.message
    end
    lane.call
    assert_equal ["abcde", :end], lane.stream
    lane.finish
    assert_equal [3, true, true, false, true, nil, "closed stream"], results
  end

  def test_it_reads_the_body_of_the_request
    lane = streaming { |stream| stream << stream.read(3) << stream.read << stream.read(1).inspect << stream.read }
    lane.request(method: "POST", body: "question")
    lane.response
    assert_equal ["questionnil", :end], lane.stream
  end

  def test_client_that_is_gone_is_a_broken_pipe
    raised = nil
    lane = streaming do |stream|
      loop { stream << ("x" * 65_536) }
    rescue Errno::EPIPE => e
      raised = e
      raise
    end
    id = lane.request
    lane.response
    lane.send_bytes(Support::Wire.abort(id))
    assert_equal :abort, lane.stream.last
    assert_kind_of Carat::Native::ClientGone, raised
    lane.finish
    assert_equal [1, ""], [@body.closed_count, lane.errors.string]
  end

  def test_error_aborts_the_body
    lane = streaming { |stream| raise "broken" if stream.write("begun") }
    lane.call
    assert_equal ["begun", :abort], lane.stream
    lane.finish
    assert_equal 1, @body.closed_count
  end

  private

  def streaming(&call)
    @body = Body.new(&call)
    serve(->(_env) { [200, {}, @body] }, release: "3.1.0")
  end
end
