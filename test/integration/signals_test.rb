# frozen_string_literal: true

require "expect"
require "pty"
require "shellwords"
require "test_helper"

# Signals that people who come from Puma or Unicorn send to the server. process_stop_test has those that end it.
class SignalsTest < Support::IntegrationTest
  HELLO = 'run ->(_env) { [200, {}, ["hello"]] }'

  def test_ttin_adds_a_worker_and_ttou_takes_one_away
    server = serve(HELLO, workers: 1)
    server.kill(:TTIN)
    await_log(server, /workers scaled min=2 max=2 wanted=2/)
    await_workers(server, 2)
    server.kill(:TTOU)
    await_log(server, /workers scaled min=1 max=1 wanted=1/)
    await_log(server, /worker ended/)

    assert_equal "hello", server.get.body
    assert_equal 1, server.workers.size
  end

  def test_both_bounds_of_a_range_move
    server = serve(HELLO, workers: "1..3")
    server.kill(:TTIN)

    await_log(server, /workers scaled min=2 max=4 wanted=2/)
  end

  def test_server_ends_with_its_terminal_and_with_no_other_hangup
    output, input, pid = in_terminal
    Process.kill(:HUP, pid)
    assert output.expect(/log reopened/, Support::Eventually::DEADLINE_SECONDS)
    [output, input].each(&:close)

    _, status = eventually(message: "the end of the server") { Process.wait2(pid, Process::WNOHANG) }
    assert_equal 0, status.exitstatus
  end

  def test_under_nohup_an_upgraded_server_outlives_its_terminal_too
    server = server(app: HELLO)
    command = [*Support::ServerOptions::COMMAND, *%w[-b unix://web.sock --log carat.log --pidfile pid]].shelljoin
    command = "cd #{server.directory.path}; (trap '' HUP; #{command}) & wait"
    shell = PTY.spawn(Support::ServerOptions::NEUTRAL_ENV, command)
    await_log(server, /worker ready/)
    first = server.directory.read("pid").to_i
    { USR1: "restarted", USR2: "upgraded" }.each do |signal, past|
      Process.kill(signal, first)
      await_log(server, /info #{past} /)
    end
    eventually(message: "the pid file of the new edge") { server.directory.read("pid").to_i != first }
    shell.first(2).each(&:close)

    await_log(server, /log reopened/)
    assert_equal "hello", server.connect("unix:#{server.directory.path}/web.sock").get.body
  end

  def test_the_last_worker_stays
    server = serve(HELLO, workers: 1)
    server.kill(:TTOU)
    await_log(server, / warn the last worker stays workers=1$/)

    assert_equal "hello", server.get.body
  end

  private

  # Starts a server in a terminal of its own.
  def in_terminal
    directory = server(app: HELLO).directory
    command = [*Support::ServerOptions::COMMAND, "-b", "unix://web.sock"].shelljoin
    spawned = PTY.spawn(Support::ServerOptions::NEUTRAL_ENV, "cd #{directory.path} && exec #{command}")
    assert spawned.first.expect(/worker ready/, Support::Eventually::DEADLINE_SECONDS)
    spawned
  end
end
