# frozen_string_literal: true

require "json"
require "test_helper"

# Solid Queue in a process of the application: a ledger of its jobs.
class AppProcessJobsTest < Support::IntegrationTest
  include Support::ControlledServer

  missing = %w[solid_queue rails sqlite3].find { |name| Gem::Specification.stubs_for(name).empty? }
  needs("the gem #{missing} is not installed") if missing

  BATCH = 20

  def test_each_job_runs_once_through_restarts_and_upgrades
    server = start
    3.times do
      enqueue(server)
      assert_equal 0, carat(server, "restart").last
    end
    2.times do
      enqueue(server)
      assert_equal 0, carat(server, "upgrade").last
    end
    await_ledger(server)

    assert_equal (1..@enqueued).to_a, ledger(server).sort
    assert_equal 0, state(server).fetch("failed")
  ensure
    carat(server, "stop") if server
  end

  def test_killed_supervisors_lose_no_job_and_leave_no_process
    server = start
    3.times do
      enqueue(server)
      pid = running(server)
      Process.kill(:KILL, pid)
      eventually(message: "another process") { running(server)&.then { |another| another != pid } }
    end
    await_ledger(server)

    assert_equal (1..@enqueued).to_a, ledger(server).sort
    forks = memory(server).count { |process| process["role"] == "descendant" }
    assert_equal 2, forks # a dispatcher and a worker
  end

  def test_a_job_that_runs_at_the_stop_is_finished
    server = start
    enqueue(server)
    eventually(message: "a job") { ledger(server).any? }
    assert_equal 0, server.stop.exitstatus
    finished = ledger(server)

    assert_equal finished.uniq, finished
    refute_match(/killing process/, server.log)
    await_emptiness(server)
  end

  private

  def start
    files = Support::JobsApp::FILES
    server(files:, app: files.fetch("config.ru"), config: Support::JobsApp::CONFIG, workers: 1,
           args: CONTROL_SOCKET).start
  end

  def enqueue(server)
    from = (@enqueued || 0) + 1
    @enqueued = from + BATCH - 1
    assert_equal 201, server.request("POST", "/entries?from=#{from}&count=#{BATCH}").status
  end

  def await_ledger(server)
    eventually(message: "#{@enqueued} jobs") { ledger(server).uniq.size >= @enqueued }
  end

  def ledger(server)
    server.directory.read("ledger").lines.map(&:to_i)
  end

  def state(server) = JSON.parse(server.get("/state").body)

  def memory(server) = JSON.parse(carat(server, "memory", "--json").first).fetch("processes")

  def running(server)
    rows = status(server).fetch("app_processes")
    rows.find { |row| row["state"] == "running" }&.fetch("pid")
  end
end
