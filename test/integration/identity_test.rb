# frozen_string_literal: true

require "etc"
require "fileutils"
require "json"
require "test_helper"

# `user`, `group` and `umask` of a server that root starts.
class IdentityTest < Support::IntegrationTest
  USER = "nobody"
  # Responds with the identity of its process, and writes a file.
  APP = <<~'RUBY'
    run(lambda do |_env|
      File.write("written", "")
      [200, {}, [ENV.values_at("HOME", "USER", "LOGNAME").join(" ")]]
    end)
  RUBY

  def setup
    super
    skip "only root can become another user" unless Process.uid.zero?
    lib = File.join(Support::ServerOptions::ROOT, "lib/carat.rb")
    readable = system(*as_user, "test", "-r", lib)
    skip "#{USER} cannot read #{lib}" unless readable
  end

  def test_edge_mold_and_workers_run_as_the_user_without_a_capability
    server = start
    pids = [server.pid, server.mold, server.workers.fetch(1)]
    ids = pids.map { |pid| status(pid).values_at("Uid", "Gid", "CapEff", "CapPrm", "CapAmb") }
    uid, gid = [entry.uid, entry.gid].map { |id| Array.new(4, id).join("\t") }

    assert_equal [[uid, gid, *(["0" * 16] * 3)]] * 3, ids
  end

  def test_the_user_has_all_its_groups_and_none_of_root
    server = start
    groups = IO.popen(["id", "-G", USER], &:read).split.sort

    assert_equal([groups] * 2, [server.pid, server.mold].map { |pid| status(pid).fetch("Groups").split.sort })
  end

  def test_the_group_is_an_option
    server = start(args: ["--user", USER, "--group", "daemon"])

    assert_equal [Etc.getgrnam("daemon").gid.to_s] * 4, status(server.pid).fetch("Gid").split
  end

  def test_a_number_without_an_entry_needs_a_group
    server = server(app: APP, args: %w[--user 54321])

    assert_equal 78, server.run.exitstatus
    assert_equal "user: 54321 is unknown to this machine: set group as well\n", server.log
    other = start(args: %w[--user 54321 --group 54322], owner: 54_321)

    assert_equal %w[54321 54322], status(other.pid).values_at("Uid", "Gid").map { |ids| ids.split.first }
    assert_equal %w[54322], status(other.pid).fetch("Groups").split
  end

  def test_a_port_of_root_is_bound_first
    port = 1023.downto(512).find { |number| free?(number) }
    server = start(binds: ["tcp://127.0.0.1:#{port}"])

    assert_equal "/nonexistent nobody nobody", server.get.body
    assert_equal port, server.port
  end

  def test_files_and_sockets_belong_to_the_user_and_the_umask_holds
    server = start(binds: %w[unix://carat.sock], args: ["--user", USER, "--umask", "027", "--log", "server.log"])
    server.get
    modes = %w[carat.sock written server.log].to_h { |name| [name, owner_and_mode(server, name)] }

    assert_equal [[entry.uid, 0o750], [entry.uid, 0o640], [entry.uid, 0o640]], modes.values
    server.stop
    refute_path_exists File.join(server.directory.path, "carat.sock")
  end

  def test_root_and_the_user_may_ask_the_control_socket_of_the_user
    server = start
    path = File.join(server.directory.path, "carat", "carat-#{server.pid}.sock")
    eventually(message: "the control socket") { File.socket?(path) }

    assert_equal [entry.uid] * 2, [File.dirname(path), path].map { |name| File.stat(name).uid }
    library = File.join(Support::ServerOptions::ROOT, "lib")
    ask = [RbConfig.ruby, "-I", library, "-r", "carat/cli/control/control_client", "-e",
           "print Carat::CLI::ControlClient.new(ARGV.first).get('/memory')", path]
    [ask, [*as_user, *ask]].each do |command|
      processes = JSON.parse(IO.popen(command, &:read))["processes"]

      assert_equal [true] * 3, (processes.map { |row| row["memory"]["pss"].positive? })
    end
  end

  def test_workers_are_still_killed_before_the_mold_and_die_with_the_edge
    server = start
    pids = [server.pid, server.mold, server.workers.fetch(1)]
    scores = pids.map { |pid| File.read("/proc/#{pid}/oom_score_adj").to_i }

    assert_equal [0, 100, 300], (scores.map { |score| score - scores.first })
    server.kill(:KILL)
    await_emptiness(server)
  end

  def test_a_spool_that_the_user_cannot_write_to_ends_the_boot
    server = own(server(app: APP, args: ["--user", USER, "--spool-dir", "spool"], files: { "spool/keep" => "" }))

    assert_equal 1, server.run.exitstatus
    await_log(server, /^carat: spool_dir: \S+ cannot be written to by the user nobody: /)
  end

  def test_without_the_capability_the_boot_ends_with_the_reason
    command = ["setpriv", "--bounding-set=-setuid,-setgid", *Support::ServerOptions::COMMAND]
    server = own(server(app: APP, args: ["--user", USER], command: command))

    assert_equal 1, server.run.exitstatus
    await_log(server, /^carat: cannot become user #{entry.uid}: .*; root needs CAP_SETUID and CAP_SETGID\n\z/)
  end

  def test_root_is_warned_outside_of_development
    server = serve(APP, args: %w[--environment production])

    assert_includes server.log, "carat: the server runs as root: set user to one without privileges, or start carat " \
                                "as such a user\n"
    refute_includes start(args: ["--user", USER, "--environment", "production"]).log, "runs as root"
  end

  private

  def start(args: ["--user", USER], owner: entry.uid, **options)
    own(server(app: APP, args: args, **options), owner).start
  end

  # The user owns the directory of the server, and nothing else.
  def own(server, owner = entry.uid)
    File.chown(owner, nil, server.directory.path)
    server
  end

  def entry
    Etc.getpwnam(USER)
  end

  def as_user
    ["setpriv", "--reuid=#{entry.uid}", "--regid=#{entry.gid}", "--clear-groups"]
  end

  def status(pid)
    File.read("/proc/#{pid}/status").scan(/^(\w+):\t(.*?) *$/).to_h
  end

  def owner_and_mode(server, name)
    stat = File.lstat(File.join(server.directory.path, name))
    [stat.uid, stat.mode & 0o777]
  end

  def free?(port)
    TCPServer.new("127.0.0.1", port).close
    true
  rescue SystemCallError
    false
  end
end
