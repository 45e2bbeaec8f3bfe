# frozen_string_literal: true

require "json"
require "test_helper"

# The further processes of the application (`process` in the config file).
class AppProcessTest < Support::IntegrationTest
  include Support::ControlledServer
  include Support::Told

  OK = "run ->(_env) { [200, {}, []] }"

  def test_a_process_runs_beside_the_workers_and_ends_with_the_server
    server = serve(OK, config: LOOP)
    pid = await_told(server, 1).last[1]

    assert_includes server.children, pid
    assert_match(/\Acarat: jobs number=1 gen=1/, Support::ProcessTree.title(pid))
    assert_equal 0, server.stop.exitstatus
    assert_equal [["start", pid], ["end", pid]], told(server)
    await_emptiness(server)
  end

  def test_one_that_is_killed_is_replaced_and_logged_in_one_line
    server = serve(OK, config: LOOP)
    pid = await_told(server, 1).last[1]
    Process.kill(:KILL, pid)
    await_told(server, 2)

    assert_equal 1, server.log.scan(/process died process=jobs number=1 gen=1 pid=#{pid} cause="signal 9"/).size
    assert_equal 0, server.stop.exitstatus
  end

  def test_an_exception_is_the_cause_in_the_one_line_of_its_end
    server = serve(OK, args: CONTROL_SOCKET,
                       config: 'process("jobs", restart: :never) { raise ArgumentError, "no queue" }')
    await_log(server, /error process died process=jobs .* cause=".*no queue \(ArgumentError\)/)

    assert_equal 1, server.log.scan("no queue").size
    assert_match(/^process jobs: 0 of 1 run$/, carat(server, "status").first)
  end

  def test_one_that_ignores_its_signal_is_killed_at_stop_timeout
    server = serve(OK, config: <<~RUBY)
      process "jobs", stop_signal: :QUIT, stop_timeout: "0.5s" do
        trap("QUIT") { File.write("told", "quit 1\\n", mode: "a") }
        sleep
      end
    RUBY
    await_log(server, /process running process=jobs/)

    eventually { !server.running? || server.stop }
    assert_equal 0, server.status.exitstatus
    assert_match(/warn killing process process=jobs/, server.log)
    assert_equal [["quit", 1]], told(server)
  end

  def test_what_it_has_forked_ends_with_it
    server = serve(OK, config: <<~RUBY)
      process "jobs", stop_timeout: "0.5s" do
        child = fork { trap("TERM", "IGNORE"); sleep }
        File.write("told", "child \#{child}\\n", mode: "a")
        sleep
      end
    RUBY
    child = await_told(server, 1).last[1]
    server.stop

    refute_includes server.processes, child
    await_emptiness(server)
  end

  def test_one_ends_with_a_server_that_is_killed
    server = serve(OK, config: LOOP)
    await_told(server, 1)
    server.kill(:KILL)
    server.wait

    await_emptiness(server)
    assert_equal %w[start], told(server).map(&:first)
  end

  def test_scale_changes_the_number_of_processes
    server = serve(OK, config: LOOP, args: CONTROL_SOCKET)
    await_told(server, 1)

    assert_equal ["carat: process jobs 3, before 1\n", "", 0], carat(server, "scale", "jobs", "3")
    await_told(server, 3)
    assert_equal 0, carat(server, "scale", "jobs", "0").last
    assert_equal 3, await_told(server, 6).map(&:first).count("end")
    assert_equal ["", "carat: the config file declares no process mail, only: jobs\n", 1],
                 carat(server, "scale", "mail", "1")
    assert_equal "scale: needs WORKERS, or PROCESS COUNT\n", carat(server, "scale", "jobs")[1]
    assert_match(/is not a number of processes/, carat(server, "scale", "jobs", "many")[1])
    assert_equal ["", "carat: process jobs has no load to follow\n", 1], carat(server, "scale", "jobs", "1..2")
  end

  def test_status_and_memory_have_rows_for_it
    server = serve(OK, config: LOOP, args: CONTROL_SOCKET)
    pid = await_told(server, 1).last[1]
    status = status(server)
    memory = JSON.parse(carat(server, "memory", "--json").first)

    assert_equal [["jobs", 1, pid, "running"]],
                 status.fetch("app_processes").map { |row| row.values_at("name", "number", "pid", "state") }
    row = memory.fetch("processes").find { |process| process["role"] == "process" }
    assert_equal ["jobs", 1, pid], row.values_at("name", "number", "pid")
    assert_operator row.dig("memory", "private"), :>, 0
    assert_match(/^jobs 1 /, carat(server, "memory").first)
    assert_match(/^\s*jobs +1 +1 +#{pid} +running/, carat(server, "status").first)
  end
end
