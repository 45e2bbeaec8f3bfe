# frozen_string_literal: true

require "json"
require "test_helper"

class ProcessTimeoutTest < Support::IntegrationTest
  # Every request that is not stuck ends within this time on a busy machine, too.
  TIMEOUT = 2

  # Line 3 is where a request for /stuck stands.
  APP = <<~RUBY
    STUCK = lambda do
      File.write("arrivals", "GET /stuck \#{Process.pid}\\n", mode: "a")
      sleep
    end
    HOLD = lambda do
      File.write("arrivals", "GET /hold \#{Process.pid}\\n", mode: "a")
      #{Support::Gate::GVL_HOLDER}
    end
    LOOP = lambda do
      File.write("arrivals", "GET /loop \#{Process.pid}\\n", mode: "a")
      loop { }
    end
    STREAM = lambda do
      File.write("arrivals", "GET /stream \#{Process.pid}\\n", mode: "a")
      [200, {}, Enumerator.new { |out| out << "one"; sleep 0.005 until File.exist?("gate"); out << "two" }]
    end
    ACTIONS = { "/stuck" => STUCK, "/hold" => HOLD, "/loop" => LOOP, "/stream" => STREAM }
    GATED = #{Support::Gate::APP.sub("run(", "").strip.delete_suffix(")")}
    run ->(env) { ACTIONS.fetch(env["PATH_INFO"], -> { GATED.call(env) }).call }
  RUBY

  def test_request_that_takes_too_long_gets_504_and_its_worker_is_replaced
    server = start
    response = server.get("/stuck")
    stuck = server.gate.arrivals.first.pid

    assert_equal 504, response.status
    await_log(server, %r{ error request timed out worker=1 request="GET /stuck"$})
    refute_equal stuck.to_s, server.get("/").body
  end

  def test_log_says_where_the_stuck_thread_stands
    server = start(workers: 2, threads: 2)
    server.get("/stuck")
    line = await_log(server, /stack of the stuck request worker=\d gen=1 pid=\d+ lane=\d waits_for=.* stack=\n/)

    assert_match(/\A\s*\S*config\.ru:3:in .*sleep.*\n\s*\S*config\.ru:3:in .*\n/, line.post_match)
  end

  def test_stack_is_one_field_of_a_json_line
    server = start(args: %w[--log-format json])
    server.get("/stuck")
    line = eventually { server.log.lines.find { |text| text.include?("stack of the stuck request") } }

    assert_match(/config\.ru:3:in /, JSON.parse(line).fetch("stack"))
  end

  def test_answer_that_has_begun_may_take_longer
    server = start
    client = ask(server, "GET", "/stream")
    await_arrivals(server, 1)
    started = Support::Eventually.now
    eventually { Support::Eventually.now > started + TIMEOUT + 0.5 }
    server.gate.open

    assert_equal "onetwo", client.read_response.body
  end

  def test_loop_of_the_application_is_found_in_the_log
    server = start
    assert_equal 504, server.get("/loop").status

    await_log(server, /stack=\n(.*\n)*\s*\S*config\.ru:11:in /)
  end

  def test_worker_that_never_lets_go_of_the_lock_is_killed
    server = start(threads: 2)
    assert_equal 504, server.get("/hold").status

    await_death(server.gate.arrivals.first.pid)
    assert_equal 200, server.get("/").status
  end

  private

  def start(threads: 1, args: [], **options)
    serve(APP, threads: threads, args: ["--request-timeout", TIMEOUT.to_s, *args], **options)
  end

  def await_death(pid)
    eventually(message: "the end of the stuck worker") { !Support::ProcessTree.alive?(pid) }
  end
end
