# frozen_string_literal: true

require "etc"
require "test_helper"

# What a user without rights, or with a full disk, gets: one sentence that says what, where, and what to do.
class WrongRightsTest < Support::IntegrationTest
  BAD_CONFIG = 78
  FAILURE = 1
  USER = "nobody"
  LOWEST_PORT = "/proc/sys/net/ipv4/ip_unprivileged_port_start"
  NOT_READ = "cannot be read by the user #{USER}: change its permissions or the user".freeze
  NOT_WRITTEN = "cannot be written to by the user #{USER}: change its permissions or the user".freeze
  # A file system that nobody may write to.
  READ_ONLY = 'mkdir ro && mount -t tmpfs tmpfs ro && mkdir ro/spool && mount -o remount,ro ro; exec "$@"'
  # A file system of 64 KiB without room.
  FULL = 'mkdir full && mount -t tmpfs -o size=64k full full && head -c 65536 /dev/zero >full/data; exec "$@"'
  # By name: the mistake (options of Support::Server) of a user to whom the server's directory does not belong, the
  # status, and the sentence.
  CASES = {
    "a port of root" =>
      [{ flags: false, args: %w[-b tcp://127.0.0.1:1] }, FAILURE,
       %r{carat: tcp://127\.0\.0\.1:1: this user may not listen on a port below 1024: give the service AmbientCap}],
    "a socket where the user cannot write" =>
      [{ binds: ["unix://carat.sock"] }, BAD_CONFIG, /--bind: "unix:\S+carat\.sock" #{NOT_WRITTEN}$/],
    "a pid file where the user cannot write" =>
      [{ args: %w[--pidfile carat.pid] }, BAD_CONFIG, %r{--pidfile: /\S+/carat\.pid #{NOT_WRITTEN}$}],
    "a control socket where the user cannot write" =>
      [{ args: %w[--control-socket control.sock] }, BAD_CONFIG,
       %r{--control-socket: /\S+/control\.sock #{NOT_WRITTEN}$}],
    "a log where the user cannot write" =>
      [{ args: %w[--log server.log] }, BAD_CONFIG, %r{--log: /\S+/server\.log #{NOT_WRITTEN}$}],
    "a spool where the user cannot write" =>
      [{ args: %w[--spool-dir .] }, BAD_CONFIG, %r{--spool-dir: /\S+ #{NOT_WRITTEN}$}],
    "a named config file that the user cannot read" =>
      [{ files: { "secret.rb" => "" }, args: %w[-C secret.rb] }, BAD_CONFIG,
       %r{--config: /\S+/secret\.rb #{NOT_READ}$}],
    "a config file that the user cannot read" =>
      [{ files: { "carat.rb" => "", "secret.rb" => "" } }, BAD_CONFIG, %r{carat\.rb: /\S+ #{NOT_READ}$}],
    "a rackup file that the user cannot read" =>
      [{ files: { "secret.ru" => "" }, args: %w[secret.ru] }, BAD_CONFIG, %r{/\S+/secret\.ru #{NOT_READ}; start carat}]
  }.freeze

  CASES.each do |name, (options, status, sentence)|
    define_method("test_#{name.tr(" ", "_")}") do
      as_user = user_command
      skip "every user may bind port 1" if name.include?("port") && File.read(LOWEST_PORT).to_i < 2
      server = server(command: as_user + Support::ServerOptions::COMMAND, **options)
      File.chmod(0o755, server.directory.path)
      options.fetch(:files, {}).each_key { |file| File.chmod(0o600, File.join(server.directory.path, file)) }

      assert_equal status, server.run.exitstatus
      assert_match(/\A(?:rackup: |carat: )?#{sentence}/, server.log)
      assert_equal 1, server.log.lines.size, server.log
    end
  end

  def test_a_log_on_a_full_disk_is_reported_on_standard_error_and_the_server_goes_on
    server = serve("run ->(_env) { [200, {}, [\"served\"]] }", args: %w[--log /dev/full])

    assert_equal "served", server.get.body
    await_log(server,
              %r{ error log lines are lost: free some space, or choose another log log=/dev/full cause="No space})
  end

  def test_a_full_spool_is_507_and_the_log_says_where
    server = serve("run ->(_env) { [200, {}, []] }", command: with_full_disk, args: %w[--spool-dir full])

    assert_equal 507, server.request("POST", "/", body: "b" * 200_000).status
    await_log(server,
              %r{ error no room for a request body: free some space, or choose another spool_dir spool_dir=/\S+/full })
  end

  def test_a_pid_file_on_a_full_disk_is_one_line
    server = server(command: with_full_disk, args: %w[--pidfile full/carat.pid])

    assert_equal FAILURE, server.run.exitstatus
    assert_match(%r{\Acarat: pidfile: cannot write /\S+/full/carat\.pid: No space left .*; choose another file\n\z},
                 server.log)
  end

  def test_a_read_only_disk_is_named_as_such
    { "--pidfile" => "ro/pid", "--log" => "ro/log", "--control-socket" => "ro/sock", "--spool-dir" => "ro/spool",
      "--bind" => "unix://ro/web.sock" }.each do |flag, value|
      server = server(command: mounting(READ_ONLY), flags: false, args: [flag, value])

      assert_equal BAD_CONFIG, server.run.exitstatus
      assert_match(/\A#{flag}: \S+ is on a read-only disk: choose another path, or make the disk writable\n\z/,
                   server.log)
    end
  end

  private

  # The beginning of a command that runs as the user.
  def user_command
    skip "only root can become another user" unless Process.uid.zero?
    entry = Etc.getpwnam(USER)
    command = ["setpriv", "--reuid=#{entry.uid}", "--regid=#{entry.gid}", "--clear-groups"]
    lib = File.join(Support::ServerOptions::ROOT, "lib/carat.rb")
    skip "#{USER} cannot read #{lib}" unless system(*command, "test", "-r", lib)
    command
  end

  def with_full_disk
    mounting(FULL)
  end

  # The command of a server beside a file system that a script mounts.
  def mounting(script)
    isolated = %w[unshare --mount --propagation private]
    skip "mounting is not allowed here" unless system(*isolated, "true", err: File::NULL)
    [*isolated, "sh", "-c", script, "_", *Support::ServerOptions::COMMAND]
  end
end
