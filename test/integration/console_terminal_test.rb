# frozen_string_literal: true

require "io/console"
require "json"
require "pty"
require "shellwords"
require "test_helper"

# `carat console` and `carat run` on a terminal, and under a shell with job control.
class ConsoleTerminalTest < Support::IntegrationTest
  include Support::ControlledServer

  APP = "run ->(_env) { [200, {}, []] }"
  TASK = <<~'RUBY'
    require "io/console"
    $stdout.sync = true
    trap("WINCH") { $stdout.syswrite("size #{$stdout.winsize.inspect}\n") }
    puts "#{ENV["TERM"]} #{$stdin.tty?} #{$stdout.winsize.inspect} #{Process.pid}"
    begin
      sleep 0.05 while true
    rescue Interrupt
      puts "interrupted"
    end
    puts "typed #{$stdin.gets}"
  RUBY
  CHUNK = 4096

  def teardown
    @terminal&.each { |end_of_terminal| end_of_terminal.close unless end_of_terminal.closed? }
    super
  end

  def test_the_process_has_the_terminal_with_its_size_and_its_keys
    server = start
    open_terminal(server, "run", *%w[-- ruby task.rb], size: [33, 101])
    await_output(/xterm true \[33, 101\] \d+/)
    @output.winsize = [40, 120]
    await_output(/size \[40, 120\]/)
    @input.write("\x03")
    await_output(/interrupted/)
    @input.write("this\n")
    await_output(/typed this/)

    assert_equal 0, status_of(@pid).exitstatus
  end

  def test_the_process_ends_with_its_terminal
    server = start
    open_terminal(server, "run", *%w[-- ruby task.rb])
    pid = await_output(/xterm true \[\d+, \d+\] (\d+)/)[1].to_i
    @terminal.each(&:close)

    eventually(message: "the end of the process") { !Support::ProcessTree.alive?(pid) }
    status_of(@pid)
  end

  def test_a_shell_stops_and_continues_it
    server = start
    in_shell(server)
    @input.write("#{client("run", *%w[-- ruby task.rb])}\n")
    pid = await_output(/xterm true \[\d+, \d+\] (\d+)/)[1].to_i
    @input.write("\x1a")
    await_output(/Stopped/)
    eventually(message: "the process stopped") { state(pid) == "T" }
    @input.write("echo in the she''ll; fg\n")
    await_output(/in the shell/)
    eventually(message: "the process continued") { state(pid) != "T" }
    @input.write("\x03")
    await_output(/interrupted/)
    @input.write("that\n")
    await_output(/typed that/)
    @input.write("exit\n")

    assert_equal 0, status_of(@pid).exitstatus
  end

  def test_one_in_the_background_does_not_take_what_is_typed_for_the_shell
    server = start
    in_shell(server)
    @input.write("#{client("run", *%w[-- cat])} &\n")
    eventually(message: "the client stopped") { @input.write("\n").then { await_shell(/Stopped/) } }
    @input.write("echo in the she''ll\n")
    await_output(/in the shell/)
    @input.write("fg\n")
    await_row(server)
    @input.write("for cat\n\x04")
    await_output(/for cat\s+for cat/)
    @input.write("exit\n")
    status_of(@pid)
  end

  def test_a_killed_process_leaves_the_terminal_as_it_was
    server = start(files: { "raw.rb" => "STDIN.raw!; puts 'raw'; $stdout.flush; Process.kill(:KILL, $$)" })
    in_shell(server)
    @input.write("#{client("run", *%w[-- ruby raw.rb])}; stty -a | grep -o '.icanon'; exit\n")
    await_output(/raw.* icanon/m)

    refute_match(/-icanon/, @seen)
    status_of(@pid)
  end

  def test_irb_has_a_prompt_and_completes_a_session
    plain = "IRB.conf.update(USE_MULTILINE: false, USE_SINGLELINE: false, USE_COLORIZE: false)"
    server = start(files: { "irbrc" => plain }, env: { "IRBRC" => "irbrc" })
    open_terminal(server, "console", env: { "TERM" => "dumb" })
    await_output(/irb\(.*\).*> /)
    @input.write("answer = 41\n")
    @input.write("answer + 1\n")
    await_output(/=> 42/)
    @input.write("exit\n")

    assert_equal 0, status_of(@pid).exitstatus
  end

  private

  def start(**options)
    files = { "task.rb" => TASK }.merge(options.fetch(:files, {}))
    serve(APP, **options, files:, args: CONTROL_SOCKET)
  end

  def open_terminal(server, *words, env: {}, size: [24, 80])
    first, *rest = command(*words)
    spawn(server, first.merge("TERM" => "xterm", **env), rest, size)
  end

  def in_shell(server)
    env = Support::ServerOptions::NEUTRAL_ENV.merge("TERM" => "xterm", "PS1" => "$ ")
    spawn(server, env, %w[bash --norc --noprofile -i], [24, 80])
  end

  def spawn(server, env, words, size)
    terminal, inside = PTY.open
    terminal.winsize = size
    # The first terminal that the leader of a session opens is its own.
    @pid = Process.spawn(env, "setsid", "sh", "-c", 'exec <"$0" >"$0" 2>&1 "$@"', inside.path, *words,
                         chdir: server.directory.path)
    @terminal = [terminal, inside]
    @output = @input = terminal
    @seen = +""
  end

  def command(subcommand, *words)
    [Support::ServerOptions::NEUTRAL_ENV, *Support::ServerOptions::COMMAND, subcommand, *CONTROL_SOCKET, *words]
  end

  def client(...) = command(...).drop(1).shelljoin

  def await_output(pattern)
    eventually(message: "#{pattern.inspect} on the terminal") do
      chunk = @output.read_nonblock(CHUNK, exception: false)
      @seen << chunk if chunk.is_a?(String)
      @seen.match(pattern).tap { |match| @seen = match.post_match if match }
    rescue Errno::EIO
      @seen.match(pattern) || flunk("the terminal is closed after #{@seen.inspect}")
    end
  rescue Support::Eventually::TooLate
    flunk "the terminal shows #{@seen.inspect}"
  end

  # Whether the shell, which says such things at its prompt, has said it.
  def await_shell(pattern)
    chunk = @output.read_nonblock(CHUNK, exception: false)
    @seen << chunk if chunk.is_a?(String)
    @seen.match?(pattern)
  end

  def await_row(server)
    eventually(message: "a console that runs") do
      status(server).fetch("app_processes").any? { |row| row["state"] == "running" }
    end
  end

  def state(pid)
    File.read("/proc/#{pid}/stat")[/\) (\w)/, 1]
  end

  def status_of(pid)
    eventually(message: "the end of the client") do
      @output.read_nonblock(CHUNK, exception: false) unless @output.closed?
      Process.wait2(pid, Process::WNOHANG)&.last
    rescue Errno::EIO
      Process.wait2(pid, Process::WNOHANG)&.last
    end
  end
end
