# frozen_string_literal: true

require "json"
require "open3"
require "socket"
require "test_helper"

# `carat console` and `carat run`: processes for clients of the control socket, forked from the mold.
class ConsoleTest < Support::IntegrationTest
  include Support::ControlledServer

  APP = <<~RUBY
    LOADED_BY = Process.pid
    run ->(_env) { [200, {}, []] }
  RUBY
  HOOKS = <<~'RUBY'
    on_process_boot { |name| $booted = name }
    on_process_shutdown { |name| File.write("shut", name) }
  RUBY
  UPGRADE = "POST /console HTTP/1.1\r\nHost: carat\r\nConnection: upgrade\r\nUpgrade: carat-console\r\n\r\n"
  LIMIT = 8

  def test_a_file_runs_with_the_loaded_application_and_its_status_is_that_of_the_command
    server = start(config: HOOKS, files: { "task.rb" => <<~'RUBY' })
      puts [LOADED_BY, Dir.pwd, ARGV, $0, $booted, ENV["FIRST"], ENV["SECOND"], ENV["THIRD"], STDIN.read].inspect
      exit 3
    RUBY
    out, err, status = carat_run(server, "--env", "FIRST", "--env", "SECOND=two=2", *%w[-- ruby task.rb a], "b ü",
                                 env: { "FIRST" => "1", "THIRD" => "3" }, stdin: "typed")

    expected = [server.mold, server.directory.path, ["a", "b ü"], "task.rb", "console", "1", "two=2", nil, "typed"]
    assert_equal ["#{expected.inspect}\n", "", 3], [out, err, status.exitstatus]
    assert_equal "console", server.directory.read("shut")
    assert_match(/info process ended process=console number=1 gen=1 pid=\d+ cause="exit status 3"/, server.log)
  end

  def test_another_program_is_executed_and_dies_by_its_own_signal
    server = start(config: HOOKS)

    assert_equal ["said\n", "", 0], plain(carat_run(server, "--", "sh", "-c", "echo said"))
    assert_equal "TERM", Signal.signame(carat_run(server, "--", "sh", "-c", "kill -TERM $$").last.termsig)
    assert_equal "KILL", Signal.signame(carat_run(server, "--", "sh", "-c", "kill -KILL $$").last.termsig)
    assert_equal ["", "carat: No such file or directory - nowhere\n", 127], plain(carat_run(server, "nowhere"))
    refute_path_exists File.join(server.directory.path, "shut")
  end

  def test_an_exception_is_reported_as_by_ruby_and_inherited_blocks_run_at_the_end
    app = "#{APP}at_exit { File.write(\"at_exit\", Process.pid.to_s) }"
    server = start(app, files: { "task.rb" => 'at_exit { puts "own" }; raise ArgumentError, "no way"' })
    out, err, status = carat_run(server, *%w[-- ruby task.rb])

    assert_equal ["own\n", 1], [out, status.exitstatus]
    assert_match(/\A\S*task\.rb:1:in .*no way \(ArgumentError\)/, err)
    assert_equal ["", "carat: No such file or directory - a.rb\n", 1], plain(carat_run(server, "ruby", "a.rb"))
    refute_equal server.mold, Integer(server.directory.read("at_exit"))
  end

  def test_a_block_that_raises_at_the_end_leaves_the_status_of_the_command
    server = start(files: { "task.rb" => 'at_exit { raise "no" }; exit 3' })
    _, err, status = carat_run(server, *%w[-- ruby task.rb])

    assert_equal 3, status.exitstatus
    assert_match(/^carat: an at_exit block raised RuntimeError: \S*task\.rb:1/, err)
  end

  def test_the_process_has_no_descriptor_of_the_mold_and_a_row_in_status_and_memory
    server = start(files: { "task.rb" => "$stdout.puts(Process.pid); $stdout.flush; STDIN.read" })
    session(server, *%w[-- ruby task.rb]) do |input, output|
      pid = output.gets.to_i

      assert_empty Support::ProcessTree.sockets(pid)
      assert_match(/\Acarat: console number=1 gen=1|\Atask\.rb/, Support::ProcessTree.title(pid))
      assert_equal [["console", pid, "running"]], rows(server)
      eventually(message: "a row in carat memory") { carat(server, "memory").first.match?(/^console 1 +1 +#{pid}/) }
      assert_equal 1, server.workers.size
      input.close
    end
    eventually(message: "no row") { rows(server).empty? }
  end

  def test_without_a_terminal_irb_reads_its_input
    server = start
    out, _err, status = carat_client(server, "console", stdin: "[LOADED_BY, 6 * 7]\nexit\n")

    assert_match(/^\[#{server.mold},\s+42\]|=> \[#{server.mold}, 42\]/, out)
    assert_equal 0, status.exitstatus
    assert_equal "carat: --sandbox needs Rails\n", carat_client(server, "console", "--sandbox")[1]
  end

  def test_signals_reach_the_process_and_what_it_has_forked
    server = start
    script = "trap 'echo got; exit 5' USR1; echo ready; while :; do sleep 0.05; done"
    session(server, "--", "sh", "-c", script) do |_, output, client|
      output.gets
      Process.kill(:USR1, client.pid)

      assert_equal "got\n", output.gets
      assert_equal 5, client.value.exitstatus
    end
    # A shell would outlive a signal that comes just before it forks a program.
    session(server, "--", "sh", "-c", "echo $$; exec sleep 1000") do |_, output, client|
      output.gets
      Process.kill(:INT, client.pid)

      assert_equal "INT", Signal.signame(client.value.termsig)
    end
    await_only_own(server)
  end

  def test_the_process_is_hung_up_when_its_client_is_killed_even_if_it_is_stopped
    server = start
    script = "trap 'echo hung up >> hup; exit' HUP; echo $$; while :; do sleep 0.05; done"
    [[], ["STOP"]].each do |signals|
      session(server, "--", "sh", "-c", script) do |_, output, client|
        pid = output.gets.to_i
        signals.each { |name| Process.kill(name, pid) }
        Process.kill(:KILL, client.pid)
        eventually(message: "the end of the process") { !Support::ProcessTree.alive?(pid) }
      end
    end

    assert_equal "hung up\nhung up\n", server.directory.read("hup")
    await_only_own(server)
  end

  def test_a_stop_hangs_up_and_kills_what_stays
    server = start(args: %w[--shutdown-timeout 1s])
    session(server, "--", "sh", "-c", "trap '' HUP; echo $$; while :; do sleep 0.05; done") do |_, output, client|
      output.gets

      assert_equal 0, server.stop.exitstatus
      assert_match(/warn killing process process=console number=1/, server.log)
      refute_predicate client.value, :success?
    end
    await_emptiness(server)
  end

  def test_a_restart_leaves_it_alone_and_an_upgrade_ends_it_with_the_old_server
    server = start(files: { "task.rb" => "$stdout.sync = true; puts LOADED_BY; STDIN.each_line { puts LOADED_BY }" })
    session(server, *%w[-- ruby task.rb]) do |input, output, client|
      first = output.gets
      assert_equal 0, carat(server, "restart").last
      input.puts

      assert_equal first, output.gets
      assert_equal 0, carat(server, "upgrade").last
      assert_equal "HUP", Signal.signame(client.value.termsig)
    end
  ensure
    carat(server, "stop") if server
  end

  def test_changed_code_is_named_in_one_line
    server = start(files: { "task.rb" => "puts 1", "Gemfile.lock" => "GEM\n" })
    server.directory.write("Gemfile.lock", "GEM\n")
    assert_equal ["1\n", "", 0], plain(carat_run(server, *%w[-- ruby task.rb]))
    server.directory.write("config.ru", "#{APP}# changed")
    server.directory.write("Gemfile.lock", "GEM\nDEPENDENCIES\n")
    out, err, = carat_run(server, *%w[-- ruby task.rb])

    assert_equal "1\n", out
    assert_match(/\Acarat: the code is \d+ \w+ old, and config\.ru and 1 more changed since; carat restart/, err)
  end

  def test_their_number_is_bounded_and_other_subcommands_work_meanwhile
    server = start
    sessions = Array.new(LIMIT) { Open3.popen2e(*command("run", "--", "cat"), chdir: server.directory.path) }
    eventually(message: "#{LIMIT} consoles") { rows(server).count { |row| row.last == "running" } == LIMIT }

    assert_equal ["", "carat: #{LIMIT} consoles are open, the limit\n", 1],
                 plain(carat_run(server, *%w[-- true]))
    sessions.first.first.close
    eventually(message: "room") { carat_run(server, *%w[-- true]).last.success? }
  ensure
    sessions&.each { |input, output, client| [input, output].each(&:close).then { client.value } }
  end

  def test_the_application_can_forbid_them
    server = start(config: "console false")

    assert_equal ["", "carat: the server allows no consoles (option `console`)\n", 1],
                 plain(carat_run(server, *%w[-- true]))
  end

  def test_without_a_server_the_remedy_is_named
    server = server(app: APP)
    _, err, status = carat_client(server, "console")

    assert_match(/no server listens there\ncarat: without a server: bin\/rails console\n\z/, err)
    assert_equal 1, status.exitstatus
    assert_match(/without a server: sh -c echo\\ a\n\z/, carat_run(server, "sh", "-c", "echo a")[1])
    assert_match(/\Arun: needs a command/, carat_run(server)[1])
    assert_match(/\A--env: "=" has no name/, carat_run(server, "--env", "=", "--", "true")[1])
  end

  def test_another_user_is_refused
    skip "only root can become another user" unless Process.uid.zero?
    server = start
    File.chmod(0o777, File.join(server.directory.path, "carat.sock"))
    reader, writer = IO.pipe
    pid = fork do
      Process::Sys.setuid(65_534)
      socket = UNIXSocket.new(File.join(server.directory.path, "carat.sock"))
      socket.write(UPGRADE)
      writer.write(socket.read.inspect)
      exit!(0)
    rescue SystemCallError => e
      writer.write(e.class.name)
      exit!(0)
    end
    writer.close
    Process.wait(pid)

    assert_includes ['""', "Errno::EPIPE", "Errno::ECONNRESET", "Errno::EACCES"], reader.read
  end

  private

  def start(app = APP, **options)
    serve(app, **options, args: [*options[:args], *CONTROL_SOCKET])
  end

  def command(subcommand, *words)
    [Support::ServerOptions::NEUTRAL_ENV, *Support::ServerOptions::COMMAND, subcommand, *CONTROL_SOCKET, *words]
  end

  def carat_client(server, *words, env: {}, stdin: "")
    first, *rest = command(*words)
    Open3.capture3(first.merge(env), *rest, stdin_data: stdin, chdir: server.directory.path)
  end

  def carat_run(server, *words, **options) = carat_client(server, "run", *words, **options)

  def plain((out, err, status)) = [out, err, status.exitstatus]

  def session(server, *words, &)
    Open3.popen2(*command("run", *words), chdir: server.directory.path, &)
  end

  def rows(server)
    status(server).fetch("app_processes").map { |row| row.values_at("name", "pid", "state") }
  end

  # Waits until only the server's own processes are left.
  def await_only_own(server)
    eventually(message: "the end of consoles") { server.processes.size == 3 }
  end
end
