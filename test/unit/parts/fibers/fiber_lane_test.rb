# frozen_string_literal: true

require "minitest/mock"
require "test_helper"

class FiberLaneTest < Support::FiberLaneTest
  SORRY = [500, "Internal Server Error\n"].freeze

  def test_requests_run_at_once_and_are_answered_as_they_are_done
    lane = fibers(->(env) { [200, {}, [@gates[env["PATH_INFO"]].pop]] })
    ids = %w[/a /b /c].to_h { |path| [path, lane.request(path: path)] }
    eventually { @gates.size == 3 && @gates.each_value.all? { |gate| gate.num_waiting == 1 } }
    %w[/c /a /b].each do |path|
      @gates[path] << path
      response = lane.response
      assert_equal [ids[path], path], [response.id, response.body]
    end
  end

  # Such as a connection of a pool.
  def test_what_requests_wait_for_is_not_taken_by_one_that_comes_later
    pool = Queue.new
    order = []
    lane = fibers(lambda do |env|
      order << pool.pop.then { env["PATH_INFO"] }
      pool << true
      [200, {}, []]
    end, capacity: 3)
    lane.send_bytes((1..7).map { |id| Support::Wire.request(id, path: "/#{id}") }.join)
    eventually { pool.num_waiting == 3 }
    pool << true
    7.times { lane.response }
    assert_equal %w[/1 /2 /3 /4 /5 /6 /7], order
  end

  def test_one_slot_serves_requests_that_compute_and_lets_others_run
    lane = fibers(->(_env) { self.class.compute(0.002) })
    20.times { lane.request }
    20.times { lane.response }
    assert_operator lane.lane.stats[:slots], :<=, 2
    eventually { lane.lane.stats[:served] == 20 }
  end

  def test_answers_leave_before_others_have_their_turn
    is_seen = false
    app = lambda do |env|
      env["PATH_INFO"] == "/spin" ? @gates[:all].pop && (Thread.pass until is_seen) : @gates[:all] << "go"
      self.class.compute(0.002)
    end
    lane = fibers(app)
    lane.request(path: "/spin")
    eventually { @gates[:all].num_waiting == 1 }
    lane.send_bytes(Support::Wire.request(2) + Support::Wire.request(3))
    assert_equal 2, lane.response.id
    is_seen = true
    assert_equal [1, 3], Array.new(2) { lane.response.id }.sort
  end

  def test_what_the_application_raises_is_answered_and_others_go_on
    lane = fibers(->(env) { env["PATH_INFO"] == "/bad" ? raise("bad") : [200, {}, [@gates[:all].pop]] })
    lane.request(path: "/good")
    assert_equal SORRY, lane.call(path: "/bad").to_a.values_at(1, 4)
    assert_match(%r{\AGET /bad: .*bad \(RuntimeError\)}, lane.errors.string)
    @gates[:all] << "good"
    assert_equal "good", lane.response.body
  end

  # The finalizer of a Tempfile may run then, and the scheduler is asked to delete the file, from Ruby 3.4 on.
  def test_file_that_is_deleted_while_an_environment_is_made_does_not_let_other_fibers_run
    app = ->(env) { [200, {}, [env["PATH_INFO"] == "/waits" ? @gates[:all].pop : env["rack.input"].read]] }
    lane = with_input(deleting_input) { fibers(app) }
    lane.request(path: "/waits")
    eventually { @gates[:all].num_waiting == 1 }
    lane.request(method: "POST", body: "a body")
    assert_equal ["a body", "go"], Array.new(2) { lane.response.body }.sort
  end

  def test_a_thread_that_is_killed_leaves_no_request_behind
    lane = fibers(->(env) { env["PATH_INFO"] == "/end" ? Thread.exit : [200, {}, [@gates[:all].pop]] })
    first = lane.request
    eventually { @gates[:all].num_waiting == 1 }
    second = lane.request(path: "/end")
    answers = Array.new(2) { lane.response }
    assert_equal [[first, *SORRY], [second, *SORRY]], answers.map { |answer| answer.to_a.values_at(0, 1, 4) }.sort
    assert_equal [[:bye, ""], [nil, nil]], [lane.frame, lane.frame]
  end

  def test_it_ends_with_a_goodbye_when_it_is_drained_while_idle
    lane = fibers(->(_env) { [200, {}, ["ok"]] })
    lane.call
    lane.finish
    assert_equal [[:bye, ""], [nil, nil]], [lane.frame, lane.frame]
  end

  def test_draining_a_busy_lane_waits_for_its_answers
    lane = fibers(->(_env) { [200, {}, [@gates[:all].pop]] })
    3.times { lane.request }
    eventually { @gates[:all].num_waiting == 3 }
    lane.native.drain
    3.times { @gates[:all] << "done" }
    assert_equal %w[done] * 3, Array.new(3) { lane.response.body }
    lane.join
  end

  def test_it_ends_when_the_edge_is_gone_while_requests_run
    lane = fibers(->(_env) { [200, {}, [@gates[:all].pop]] })
    3.times { lane.request }
    eventually { @gates[:all].num_waiting == 3 }
    lane.disconnect
    3.times { @gates[:all] << "nobody hears this" }
    lane.join
  end

  def test_fibers_that_the_application_has_left_running_end_with_the_lane
    ended = Queue.new
    lane = fibers(lambda do |_env|
      Fiber.schedule do
        sleep
      ensure
        ended << true
      end
      [200, {}, ["ok"]]
    end)
    lane.call
    lane.finish
    assert ended.pop
  end

  def test_an_error_of_a_fiber_of_the_application_is_only_logged_once
    lane = fibers(->(_env) { Fiber.schedule { raise NotImplementedError, "beside" }.then { [200, {}, ["ok"]] } })
    assert_equal %w[ok ok], Array.new(2) { lane.call.body }
    lane.finish
    assert_equal 2, lane.errors.string.scan("beside (NotImplementedError)").size
  end

  def test_answers_are_streamed_side_by_side
    body = ->(stream) { 3.times { |n| stream.write(@gates[stream].pop + n.to_s) } && stream.close }
    streams = Queue.new
    lane = fibers(->(_env) { [200, {}, ->(stream) { streams << stream; body.call(stream) }] }, release: "3.1.0")
    2.times { lane.request }
    2.times { assert_equal :stream, lane.response.body }
    one, two = streams.pop, streams.pop
    pieces = [one, two, one, two].map do |stream|
      @gates[stream] << (stream.equal?(one) ? "a" : "b")
      lane.expect(:chunk).byteslice(4..)
    end
    assert_equal %w[a0 b0 a1 b1], pieces
    [one, two].each { |stream| @gates[stream] << "end" }
    assert_equal({ chunk: 2, end: 2 }, Array.new(4) { lane.frame.first }.tally)
  end

  def test_a_stream_that_nobody_reads_keeps_no_other_waiting
    lane = fibers(->(env) { env["PATH_INFO"] == "/" ? [200, {}, [("x" * 1_000_000)].each] : [200, {}, ["quick"]] })
    stream = lane.request
    assert_equal :stream, lane.response.body
    seen = 0
    seen += lane.expect(:chunk).bytesize - 4 while seen < 256 * 1024
    assert_equal "quick", lane.call(path: "/quick").body
    lane.send_bytes(Support::Wire.abort(stream))
    assert_equal :abort, lane.frame.first
  end

  def test_bodies_that_are_read_while_they_arrive_go_to_their_own_requests
    lane = fibers(->(env) { [200, {}, [env["rack.input"].read]] })
    one, two = Array.new(2) { lane.request(method: "POST", body: { stream: nil }) }
    2.times { lane.expect(:window) }
    [[two, "b"], [one, "a"], [two, "B"], [one, "A"]].each { |id, data| lane.send_bytes(Support::Wire.chunk(id, data)) }
    assert_equal "quick", lane.call(method: "POST", body: "quick").body
    [two, one].each { |id| lane.send_bytes(Support::Wire.end(id)) }
    assert_equal({ one => "aA", two => "bB" }, Array.new(2) { lane.response.to_a.values_at(0, 4) }.to_h)
  end

  def test_a_request_that_computes_is_named_with_the_time_it_took
    lane = fibers(->(_env) { FiberLaneTest.compute(0.02) }, stall_warning: 0.01)
    lane.call(path: "/report")
    eventually { lane.errors.string.match?(%r{\Acarat: GET /report blocked the thread for 0\.\d+ s}) }
    assert_operator lane.lane.stats[:longest_run], :>, 0.01
  end

  def test_a_request_that_waits_is_not_named
    lane = fibers(->(_env) { sleep(0.02).then { [200, {}, []] } }, stall_warning: 0.015)
    lane.call
    assert_empty lane.errors.string
  end

  def test_under_stress_fibers_wait_read_and_stream
    lane = fibers(->(env) { sleep(0.001).then { [200, {}, [env["rack.input"].read].each] } })
    GC.stress = true
    ids = Array.new(4) { lane.request(method: "POST", body: { stream: nil }) }
    ids.each { lane.expect(:window) }
    ids.reverse_each { |id| lane.send_bytes(Support::Wire.chunk(id, id.to_s) + Support::Wire.end(id)) }
    frames = Array.new(12) { lane.frame }.group_by(&:first).transform_values { |found| found.map(&:last) }
    GC.stress = false
    assert_equal [4, 4], frames.values_at(:response, :end).map(&:size)
    assert_equal ids.to_h { |id| [id, id.to_s] }, frames[:chunk].to_h { |payload| payload.unpack("L<a*") }
  end

  def test_an_edge_that_is_not_understood_ends_the_lane
    lane = fibers(->(_env) { [200, {}, [@gates[:all].pop]] })
    lane.request
    eventually { @gates[:all].num_waiting == 1 }
    lane.send_bytes(Support::Wire.frame(:fork_worker))
    assert_raises(Carat::Native::LinkError) { lane.join }
  end

  def test_a_kernel_without_room_for_a_fiber_delays_requests_and_loses_none
    lane = fibers(->(_env) { [200, {}, [@gates[:all].pop]] })
    lane.request
    eventually { @gates[:all].num_waiting == 1 }
    refused = refusing_a_fiber { lane.request.tap { eventually { lane.errors.string.include?("no room") } } }
    2.times { @gates[:all] << "answered" }
    assert_includes Array.new(2) { lane.response.id }, refused
  end

  def test_it_tells_where_a_request_stands
    lane = fibers(->(_env) { [200, {}, [@gates[:all].pop]] })
    ids = Array.new(2) { lane.request }
    eventually { @gates[:all].num_waiting == 2 }
    ids.each { |id| assert_includes lane.lane.stack(id), File.basename(__FILE__) }
    assert_nil lane.lane.stack(99)
    2.times { @gates[:all] << "go" }
  end

  def test_hundreds_wait_while_the_garbage_collector_moves_everything
    lane = fibers(->(env) { [200, {}, [@gates[:all].pop, env["PATH_INFO"]]] }, capacity: 300)
    300.times { |number| lane.request(path: "/#{number}") }
    eventually { @gates[:all].num_waiting == 300 }
    GC.compact if GC.respond_to?(:compact)
    GC.start
    300.times { @gates[:all] << "" }
    numbers = Array.new(300) { lane.response.body.delete("/").to_i }
    assert_equal [*0...300], numbers.sort
  end

  private

  # A class of inputs that wakes the fiber at the gate, and deletes a file.
  def deleting_input
    gate = @gates[:all]
    Class.new(Carat.const_get(:Request)::MemoryInput) do
      define_method(:initialize) do |bytes|
        gate << "go"
        File.unlink(File.join(Dir.tmpdir, "carat-no-such-file"))
      rescue Errno::ENOENT
        super(bytes)
      end
    end
  end

  # Lanes made in the block make such inputs for bodies in memory.
  def with_input(input, &)
    templates = Carat.const_get(:Request)::EnvTemplate
    make = templates.method(:new)
    templates.stub(:new, ->(**options) { make.call(**options).to_h.merge(memory_input: input) }, &)
  end

  # Refuses one fiber, as the scheduler does when the kernel has no room for its stack.
  def refusing_a_fiber
    refusals = ["no room"]
    refusal = Module.new do
      define_method(:admit) { refusals.pop&.then { |reason| raise Carat::SchedulerError, reason } || super() }
    end
    Carat::Scheduler.prepend(refusal)
    yield
  end
end
