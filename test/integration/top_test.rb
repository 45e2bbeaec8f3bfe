# frozen_string_literal: true

require "io/console"
require "json"
require "pty"
require "test_helper"

# `carat top` of a running server, on a terminal and elsewhere.
class TopTest < Support::IntegrationTest
  include Support::ControlledServer

  CHUNK = 4096
  LEFT = /\e\[\?25h\e\[\?1049l/

  def teardown
    [@terminal, @inside].compact.each(&:close)
    super
  end

  def test_elsewhere_it_is_one_page
    server = serve("run ->(_env) { [200, {}, []] }", args: CONTROL_SOCKET)
    out, err, status = carat(server, "top")

    assert_equal ["", 0], [err, status]
    assert_match(/\Acarat \S+, pid \d+, serving, up .*^worker 1 +serving +0 /m, out)
    assert_equal [], JSON.parse(carat(server, "top", "--json").first).fetch("requests")
  end

  def test_a_server_that_dies_is_said_and_the_terminal_is_as_it_was
    server = serve(Support::Gate::APP, args: CONTROL_SOCKET)
    open_terminal(server)
    await_output(/serving/)
    server.kill(:KILL)
    await_output(/trying again: no server listens there/)
    @terminal.winsize = [10, 60]
    Process.kill(:WINCH, @pid)
    await_output(/trying again/)
    Process.kill(:TERM, @pid)
    await_end
  end

  def test_signals_that_end_it_leave_the_terminal_as_it_was
    server = serve(Support::Gate::APP, args: CONTROL_SOCKET)
    %i[INT HUP QUIT].each do |signal|
      open_terminal(server)
      await_output(/serving/)
      Process.kill(signal, @pid)
      await_end
      [@terminal, @inside].each(&:close)
    end
  end

  def test_while_it_is_stopped_the_terminal_is_the_shells
    open_terminal(serve(Support::Gate::APP, args: CONTROL_SOCKET))
    await_output(/serving/)
    Process.kill(:TSTP, @pid)
    await_output(LEFT)
    eventually { Process.wait2(@pid, Process::WNOHANG | Process::WUNTRACED)&.last&.stopped? }
    assert_equal @before, modes

    Process.kill(:CONT, @pid)
    await_output(/\e\[\?1049h.*serving/m)
    @terminal.write("q")
    await_end
  end

  private

  def open_terminal(server)
    @terminal, @inside = PTY.open
    @terminal.winsize = [24, 80]
    @before = modes
    env, *words = [Support::ServerOptions::NEUTRAL_ENV, *Support::ServerOptions::COMMAND, "top", *CONTROL_SOCKET]
    streams = { in: @inside, out: @inside, err: @inside }
    @pid = Process.spawn(env, *words, "--interval", "0.2", chdir: server.directory.path, **streams)
    @seen = +""
  end

  # What the terminal does with keys.
  def modes = `stty -a -F #{@inside.path}`.gsub(/rows.*columns \d+/, "")

  def await_output(pattern)
    eventually(message: "#{pattern.inspect} on the terminal") do
      chunk = @terminal.read_nonblock(CHUNK, exception: false)
      @seen << chunk if chunk.is_a?(String)
      @seen.match(pattern).tap { |match| @seen = match.post_match if match }
    end
  end

  def await_end
    await_output(LEFT)
    assert_equal 0, status_of(@pid).exitstatus
    assert_equal @before, modes
  end

  def status_of(pid)
    eventually(message: "the end of the client") { Process.wait2(pid, Process::WNOHANG)&.last }
  end
end
