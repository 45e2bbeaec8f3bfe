# frozen_string_literal: true

require "json"
require "open3"
require "support/rolling/load"
require "test_helper"

# A new edge takes over while clients are served.
class UpgradeTest < Support::IntegrationTest
  # Responds with the edge's process id, or the size of the body; loads what `code` says. Notes each order in a ledger.
  APP = <<~'RUBY'
    eval(File.read("code"))
    run(lambda do |env|
      sleep if env["PATH_INFO"] == "/hang"
      File.write("ledger", "#{env["QUERY_STRING"]}\n", mode: "a") if env["PATH_INFO"] == "/order"
      size = env["rack.input"].read.bytesize
      [200, {}, [size.zero? ? Process.ppid.to_s : size.to_s]]
    end)
  RUBY
  UPLOAD = 300_000

  def test_no_request_is_lost_or_runs_twice_while_edges_follow_each_other
    server = start(workers: 2, binds: ["tcp://127.0.0.1:0", "unix://web.sock"], args: %w[--metrics tcp://127.0.0.1:0])
    metrics = await_log(server, %r{metrics address=(tcp://\S+)})[1]
    loads = [*listeners(server), metrics].map { |url| Support::Rolling::Load.new { server.connect(url) } }
    orders = Array.new(3) { |number| Thread.new { order(server, number) } }
    pids = Array.new(5) { upgrade_under_uploads(server) }
    loads.each(&:stop)
    placed = orders.each { |thread| thread[:stop] = true }.flat_map(&:value)

    # The metrics port allows no POST, and `/` leads to the dashboard.
    assert_equal [200, 302, 405], loads.flat_map(&:results).uniq.sort_by(&:to_s)
    assert_equal [200], loads.first(2).flat_map(&:results).uniq
    assert_equal placed.sort, server.directory.read("ledger").split.sort
    assert_operator loads.sum { |load| load.results.size }, :>, 100
    assert_equal pids, pids.uniq
    assert_equal 0, server.wait.exitstatus
    assert_equal [pids.last], edges(server)
  end

  def test_idle_client_is_served_once_more_and_told_to_go
    server = start
    idle = server.connect.tap(&:get)
    assert_equal 0, carat(server, "upgrade").last
    response = idle.get
    assert_equal [server.pid.to_s, "close"], [response.body, response["connection"]]
    assert_equal 0, server.wait.exitstatus
    assert_equal edges(server).first, status(server)["pid"]
  end

  def test_edge_that_does_not_boot_leaves_the_old_one
    server = start
    { "raise 'no database'" => /\Acarat: not upgraded: .*no database \(RuntimeError\)/,
      "exit!" => /\Acarat: not upgraded: / }.each do |code, reason|
      server.directory.write("code", code)
      out, err, status = carat(server, "upgrade")

      assert_equal ["", 1], [out, status]
      assert_match reason, err
      assert_equal server.pid.to_s, server.get.body
    end
    eventually(message: "the old edge alone") { edges(server) == [server.pid] }
    server.directory.write("code", "")

    assert_equal 0, carat(server, "upgrade").last
  end

  def test_configuration_that_cannot_be_read_leaves_the_old_edge
    server = start(config: "workers 1\n")
    server.directory.write("carat.rb", "workers 'many'\n")

    assert_match(/\Acarat: not upgraded: carat.rb:1: workers: "many" is not a number/, carat(server, "upgrade")[1])
    assert_equal server.pid.to_s, server.get.body
  end

  def test_address_that_is_taken_leaves_the_old_edge
    other = TCPServer.new("127.0.0.1", 0)
    server = start(binds: [], config: %(bind "unix://web.sock"\n))
    server.directory.write("carat.rb", %(bind "tcp://127.0.0.1:#{other.local_address.ip_port}"\n))

    assert_match(/\Acarat: not upgraded: tcp:.*: the address is in use/, carat(server, "upgrade")[1])
    assert_path_exists File.join(server.directory.path, "web.sock")
    assert_equal server.pid.to_s, server.connect(listeners(server).first).get.body
  ensure
    other&.close
  end

  def test_addresses_change
    server = start(binds: [], config: %(bind "unix://old.sock", "unix://web.sock"\n))
    server.directory.write("carat.rb", %(bind "unix://web.sock", "unix://new.sock"\n))
    assert_equal 0, carat(server, "upgrade").last
    assert_equal 0, server.wait.exitstatus
    paths = %w[old.sock web.sock new.sock].map { |name| File.join(server.directory.path, name) }

    # An edge that has handed over removes no file: those of both are the new one's.
    assert_equal([true] * 3, paths.map { |path| File.socket?(path) })
    assert_raises(Errno::ECONNREFUSED) { server.connect("unix://#{paths.first}") }
    assert_equal([edges(server).first.to_s] * 2, paths.drop(1).map { |path| server.connect("unix://#{path}").get.body })
    assert_equal 0, carat(server, "stop").last
    assert_equal([true, false, false], paths.map { |path| File.exist?(path) })
  end

  def test_new_edge_that_is_killed_leaves_the_old_one
    server = start
    upgrade = upgrade_in_boot(server)
    Process.kill(:KILL, (edges(server) - [server.pid]).first)

    assert_match(/\Acarat: not upgraded: the new edge ended before it was ready/, upgrade.value[1])
    assert_equal server.pid.to_s, server.get.body
    eventually(message: "the old edge alone") { edges(server) == [server.pid] }
  end

  def test_old_edge_stops_when_the_new_one_has_been_killed
    server = start(args: %w[--upgrade-timeout 1h --shutdown-timeout 0.5])
    hanging = ask(server, "POST", "/hang")
    out, = carat(server, "upgrade")
    Process.kill(:KILL, out[/\d+/].to_i)

    assert_equal 504, hanging.read_response.status
    assert_equal 0, server.wait.exitstatus
    assert_match(/error the new edge has died/, server.log)
    assert_raises(Errno::ECONNREFUSED) { server.connect }
  end

  def test_upgrades_leave_no_descriptor_behind
    server = start(workers: 1)
    before = descriptors(server, server.pid)
    pid = 2.times.map { upgrade_under_uploads(server) }.last
    eventually(message: "the descriptors of #{before}") { descriptors(server, pid) == before }
    open = open_files(pid)
    pid = 2.times.map { upgrade_under_uploads(server) }.last
    eventually(message: "an edge with #{open} descriptors") { open_files(pid) <= open }
  end

  def test_new_edge_ends_when_the_old_one_is_killed_before_it_is_ready
    server = start
    upgrade = upgrade_in_boot(server)
    server.kill(:KILL)
    server.wait

    assert_equal 1, upgrade.value.last
    eventually(message: "the end of the new edge") { edges(server).empty? }
    assert_raises(Errno::ECONNREFUSED) { server.connect }
  end

  def test_signal_upgrades_and_the_files_are_those_of_the_new_edge
    server = start(args: %w[--pidfile carat.pid], control: nil)
    server.kill(:USR2)
    await_log(server, / info upgraded /)
    assert_equal 0, server.wait.exitstatus
    successor = edges(server).first

    assert_equal "#{successor}\n", server.directory.read("carat.pid")
    assert_equal ["carat-#{successor}.sock"], Dir.children(File.join(server.directory.path, "carat"))
    assert_equal 0, carat(server, "stop", pid: successor).last
    await_emptiness(server)
    refute_path_exists File.join(server.directory.path, "carat.pid")
  end

  def test_command_learns_the_end_though_the_control_socket_is_another
    server = start(control: nil)

    successor = carat(server, "upgrade").first[/\Acarat: upgraded: process (\d+) serves\n\z/, 1].to_i

    assert_equal 0, carat(server, "status", pid: successor).last
    assert_equal 0, server.wait.exitstatus
    assert_equal [successor], edges(server)
  end

  private

  def start(control: "carat.sock", config: nil, args: [], **options)
    @control = control
    args += ["--control-socket", control] if control
    files = { "code" => "", "carat.rb" => config }.compact
    server = serve(APP, **options, files:, args:)
    await_workers(server, options[:workers] || 1)
    eventually(message: "the control socket") { carat(server, "status").last.zero? }
    server
  end

  # Upgrades while the bodies of requests are half sent; returns the process id of the new edge.
  def upgrade_under_uploads(server)
    uploads = listeners(server).map do |url|
      server.connect(url).request("POST", fields: { "Content-Length" => UPLOAD }).write("x" * (UPLOAD / 2))
    end
    out, err, = carat(server, "upgrade")
    pid = out[/\Acarat: upgraded: process (\d+) serves\n\z/, 1].to_i
    assert_predicate pid, :positive?, err
    uploads.each { |upload| upload.write("x" * (UPLOAD / 2)) }
    uploads.each { |upload| assert_equal UPLOAD.to_s, upload.read_response.body }
    eventually(message: "the end of the old edge") { edges(server) == [pid] }
    pid
  end

  # Places orders until it is told to stop, and returns their names.
  def order(server, number)
    placed = []
    until Thread.current[:stop]
      placed << "#{number}-#{placed.size}"
      assert_equal 200, server.request("POST", "/order?#{placed.last}").status
    end
    placed
  end

  # An upgrade whose new edge waits for the file `go` while it boots.
  def upgrade_in_boot(server)
    server.directory.write("code", %(File.write("boots", ""); sleep 0.01 until File.exist?("go")))
    upgrade = Thread.new { carat(server, "upgrade") }
    eventually(message: "the boot of the new edge") { File.exist?(File.join(server.directory.path, "boots")) }
    upgrade
  end

  # The edges that run, by process id.
  def edges(server)
    Support::ProcessTree.edges(server.directory.path)
  end

  # How many descriptors the mold and the worker of the edge with this process id have.
  def descriptors(server, pid)
    processes = Support::ProcessTree.descendants(pid) & server.processes
    titles = processes.to_h { |child| [Support::ProcessTree.title(child)[/mold|worker=1/], child] }
    titles.slice("mold", "worker=1").transform_values { |child| open_files(child) }
  end

  def open_files(pid)
    Dir.children("/proc/#{pid}/fd").size
  end

  def listeners(server)
    server.urls
  end

  def status(server)
    JSON.parse(carat(server, "status", "--json").first)
  end

  # Without a named control socket, other servers of this machine can be asked, too.
  def carat(server, *words, pid: server.pid)
    env = Support::ServerOptions::NEUTRAL_ENV.merge("XDG_RUNTIME_DIR" => server.directory.path)
    words += @control ? ["--control-socket", @control] : ["--pid", pid.to_s]
    out, err, status = Open3.capture3(env, *Support::ServerOptions::COMMAND, *words, chdir: server.directory.path)
    [out, err, status.exitstatus]
  end
end
