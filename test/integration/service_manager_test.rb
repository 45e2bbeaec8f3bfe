# frozen_string_literal: true

require "socket"
require "test_helper"

# What a service manager such as systemd sees: sd_notify(3), sd_listen_fds(3) and the watchdog.
class ServiceManagerTest < Support::IntegrationTest
  HELLO = 'run ->(_env) { [200, {}, ["hello"]] }'
  # Responds with the names of the variables of its process.
  NAMES = 'run ->(_env) { [200, {}, [ENV.keys.grep(/\A(NOTIFY|WATCHDOG|LISTEN)_/).join(" ")]] }'
  PID = "run ->(_env) { [200, {}, [Process.ppid.to_s]] }"
  # Starts the server with the variable that names it.
  ACTIVATED = ["sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *Support::ServerOptions::COMMAND].freeze

  def setup
    super
    @directory = Dir.mktmpdir("carat-notify-")
    @socket = Socket.new(:UNIX, :DGRAM)
    @socket.bind(Addrinfo.unix(path))
  end

  def teardown
    @socket.close
    FileUtils.remove_entry(@directory)
    super
  end

  def test_ready_comes_with_the_first_worker_and_stopping_with_the_stop
    server = serve(HELLO, env: { "NOTIFY_SOCKET" => path })

    assert_equal "READY=1\nSTATUS=serving", state
    server.kill(:TERM)
    assert_equal "STOPPING=1\nSTATUS=stopping", state
    assert_equal 0, server.wait.exitstatus
  end

  def test_reload_is_announced_and_over_when_the_log_is_reopened
    server = serve(HELLO, args: %w[--log server.log], env: { "NOTIFY_SOCKET" => path })
    assert_equal "READY=1\nSTATUS=serving", state
    log = File.join(server.directory.path, "server.log")
    File.rename(log, "#{log}.1")
    before = microseconds
    server.kill(:HUP)

    reloading = state[/\ARELOADING=1\nMONOTONIC_USEC=(\d+)\nSTATUS=reloading\z/, 1].to_i

    assert_includes before..microseconds, reloading
    assert_equal "READY=1\nSTATUS=serving", state
    assert_path_exists log
  end

  def test_a_restart_is_a_reload
    server = serve(HELLO, env: { "NOTIFY_SOCKET" => path })
    assert_equal "READY=1\nSTATUS=serving", state
    server.kill(:USR1)

    assert_match(/\ARELOADING=1\nMONOTONIC_USEC=\d+\nSTATUS=restarting\z/, state)
    assert_equal "READY=1\nSTATUS=serving", state
    await_log(server, / restarted /)
  end

  def test_an_upgrade_is_a_reload_with_another_main_process
    server = serve(HELLO, env: { "NOTIFY_SOCKET" => path })
    assert_equal "READY=1\nSTATUS=serving", state
    server.kill(:USR2)

    assert_match(/\ARELOADING=1\nMONOTONIC_USEC=\d+\nSTATUS=upgrading\z/, state)
    assert_equal "READY=1\nSTATUS=serving", state
    successor = state[/\AMAINPID=(\d+)\z/, 1].to_i
    assert_equal 0, server.wait.exitstatus
    Process.kill(:TERM, successor)
    assert_equal "STOPPING=1\nSTATUS=stopping", state, "the old edge says nothing"
  end

  def test_an_upgrade_that_fails_keeps_the_main_process
    server = serve("raise 'broken' if File.exist?('broken')\n#{HELLO}", env: { "NOTIFY_SOCKET" => path })
    server.directory.write("broken", "")
    assert_equal "READY=1\nSTATUS=serving", state
    server.kill(:USR2)

    assert_match(/\ARELOADING=1\n/, state)
    assert_equal "READY=1\nSTATUS=serving", state
  end

  def test_the_watchdog_gets_its_signs_from_the_edge_that_serves
    watched = { "NOTIFY_SOCKET" => path, "WATCHDOG_USEC" => "200000" }
    server = serve(HELLO, command: ["sh", "-c", 'WATCHDOG_PID=$$ exec "$@"', "sh", *Support::ServerOptions::COMMAND],
                          env: watched)
    server.kill(:USR2)
    eventually(message: "the last message of the old edge") { state.start_with?("MAINPID=") }
    assert_equal 0, server.wait.exitstatus
    eventually(message: "two signs of life") { Array.new(3) { state }.count("WATCHDOG=1") >= 2 }
  end

  def test_sockets_that_were_passed_are_handed_on_twice
    tcp = TCPServer.new("127.0.0.1", 0)
    unix = UNIXServer.new(File.join(@directory, "web.sock"))
    server = serve(PID, binds: [], command: ACTIVATED, spawn: { 3 => tcp, 4 => unix },
                        env: { "LISTEN_FDS" => "2" }, args: %w[--pidfile carat.pid])
    [tcp, unix].each(&:close)
    pids = [server.pid]
    2.times do
      Process.kill(:USR2, pids.last)
      eventually(message: "the next edge") { server.directory.read("carat.pid").to_i != pids.last }
      pids << server.directory.read("carat.pid").to_i
      await_end(pids[-2])

      clients = server.urls.map { |url| server.connect(url) }
      assert_equal([pids.last.to_s] * 2, clients.map { |client| client.get.body })
      clients.each(&:close)
    end
    Process.kill(:TERM, pids.last)
    await_emptiness(server)
    assert_path_exists File.join(@directory, "web.sock"), "it belongs to the service manager"
  end

  def test_a_server_that_drains_is_stopping
    server = serve(HELLO, args: %w[--drain-delay 0.01], env: { "NOTIFY_SOCKET" => path })
    assert_equal "READY=1\nSTATUS=serving", state
    server.kill(:TERM)

    assert_equal "STOPPING=1\nSTATUS=draining", state
    assert_equal "STOPPING=1\nSTATUS=stopping", state
  end

  def test_a_failed_boot_says_why
    server = server(app: 'raise "no database"', env: { "NOTIFY_SOCKET" => path })

    assert_equal 1, server.run.exitstatus
    assert_match(/\ASTATUS=failed: .*no database/, state)
  end

  def test_sockets_that_are_passed_replace_the_addresses
    tcp = TCPServer.new("127.0.0.1", 0)
    unix = UNIXServer.new(File.join(@directory, "web.sock"))
    server = serve(NAMES, binds: ["tcp://127.0.0.1:1"], command: ACTIVATED, spawn: { 3 => tcp, 4 => unix },
                          env: { "LISTEN_FDS" => "2", "LISTEN_FDNAMES" => "http:web" })

    assert_equal ["http://127.0.0.1:#{tcp.local_address.ip_port}", "unix://#{unix.path}"], server.urls
    [tcp, unix].each(&:close)
    assert_equal(["", ""], server.urls.map { |url| server.connect(url).get.body })
  end

  private

  # The first edge is a child of this process.
  def await_end(pid)
    eventually(message: "the end of the old edge") do
      @servers.each(&:running?)
      !File.exist?("/proc/#{pid}/stat") || File.read("/proc/#{pid}/stat").include?(") Z")
    rescue SystemCallError
      true
    end
  end

  def path
    File.join(@directory, "notify.sock")
  end

  # The next state that the server reports.
  def state
    assert @socket.wait_readable(Support::Eventually::DEADLINE_SECONDS), "the server reports nothing"
    @socket.recv(4096)
  end

  def microseconds
    Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond)
  end
end
