# frozen_string_literal: true

require "test_helper"

class CallbacksTest < Support::NativeTest
  def test_error_of_one_callable_does_not_stop_the_others
    done = Queue.new
    lane = serve(lambda do |env|
      env["rack.after_reply"] << -> { raise "broken" } << -> { done << true }
      [200, {}, ["ok"]]
    end)
    assert_equal "ok", lane.call.body
    assert done.pop
    assert_match(/GET .*broken \(RuntimeError\)/, lane.errors.string)
  end

  def test_callable_that_exits_drains_the_worker
    lane = serve(lambda do |env|
      env["rack.after_reply"] << -> { exit }
      [200, {}, ["ok"]]
    end)
    2.times { assert_equal "ok", lane.call.body }
    lane.finish
    assert_equal 2, lane.fatal
  end

  def test_application_may_remove_the_lists
    lane = serve(lambda do |env|
      env.delete("rack.after_reply")
      env["rack.response_finished"] = nil
      [200, {}, ["ok"]]
    end, release: "3.1.0")
    2.times { assert_equal "ok", lane.call.body }
  end

  def test_lists_that_the_application_has_moved_or_replaced_are_found
    done = Queue.new
    moves = [
      ->(env) { env["rack.after_reply"] = env.delete("rack.after_reply") << -> { done << :moved } },
      ->(env) { env["rack.after_reply"] = [-> { done << :replaced }] },
      ->(env) { env["rack.response_finished"] << ->(*) { done << :second } },
      ->(env) { env.replace("rack.after_reply" => [-> { done << :small }]) },
      ->(env) { env.rehash["rack.after_reply"] << -> { done << :rehashed } }
    ]
    lane = serve(lambda do |env|
      moves.shift.call(env)
      [200, {}, ["ok"]]
    end, release: "3.1.0")
    5.times { assert_equal "ok", lane.call.body }
    assert_equal %i[moved replaced second small rehashed], Array.new(5) { done.pop }
  end

  def test_an_environment_that_was_cleared_has_no_callables
    lane = serve(lambda do |env|
      env.clear
      [200, {}, ["ok"]]
    end)
    2.times { assert_equal "ok", lane.call.body }
  end
end
