# frozen_string_literal: true

require "test_helper"

class PidFileTest < Support::IntegrationTest
  HELLO = 'run ->(_env) { [200, {}, ["hello"]] }'
  ARGS = %w[--pidfile carat.pid].freeze
  # A file system of 64 KiB that only the server sees.
  SMALL = 'mkdir small && mount -t tmpfs -o size=64k small small; exec "$@"'

  def test_it_names_the_server_while_it_runs
    server = serve(HELLO, args: ARGS)

    assert_equal "#{server.pid}\n", pid_file(server)
    server.stop
    refute_path_exists path(server)
  end

  def test_it_is_removed_after_a_failed_boot_and_a_second_signal
    server = server(app: 'raise "no"', args: ARGS)
    assert_equal 1, server.run.exitstatus
    refute_path_exists path(server)

    server = serve(Support::Gate::APP, args: ARGS)
    ask(server, "GET", "/gate")
    await_arrivals(server, 1)
    eventually(message: "the end") { server.kill(:TERM) if server.running?; !server.running? }
    refute_path_exists path(server)
  end

  def test_the_null_device_stands_for_none
    server = serve(HELLO, args: %w[--pidfile /dev/null])

    assert_equal 0, server.stop.exitstatus
    assert File.chardev?(File::NULL)
  end

  def test_that_of_a_running_server_stays
    other = serve(HELLO, args: ARGS)
    server = server(app: HELLO, args: ["--pidfile", path(other)])

    assert_equal 1, server.run.exitstatus
    assert_equal "carat: pidfile: #{path(other)} names a running server, process #{other.pid}: stop it or choose " \
                 "another file\n", server.log
    assert_equal "#{other.pid}\n", pid_file(other)
  end

  def test_it_is_right_after_an_upgrade_on_a_full_disk_or_the_log_says_why
    server = serve(HELLO, command: on_small_disk, args: %w[--pidfile small/carat.pid])
    fill(small(server, server.pid))
    successor = upgrade(server, server.pid)
    assert_equal "#{successor}\n", File.read("#{small(server, successor)}/carat.pid")

    File.unlink("#{small(server, successor)}/carat.pid")
    fill(small(server, successor))
    upgrade(server, successor)
    await_log(server, /warn cannot take over the pid file .*No space left/)
  end

  private

  # The command of a server with a small file system.
  def on_small_disk
    isolated = %w[unshare --mount --propagation private]
    skip "mounting is not allowed here" unless system(*isolated, "true", err: File::NULL)
    [*isolated, "sh", "-c", SMALL, "_", *Support::ServerOptions::COMMAND]
  end

  # That directory, as the process sees it.
  def small(server, pid)
    "/proc/#{pid}/root#{server.directory.path}/small"
  end

  def fill(directory)
    File.open("#{directory}/data", "a") { |file| loop { file.syswrite("x" * 4096) } }
  rescue Errno::ENOSPC
    nil
  end

  # Returns the process id of the new edge.
  def upgrade(server, pid)
    upgrades = server.log.scan(" info upgraded ").size
    Process.kill(:USR2, pid)
    eventually(message: "an upgrade") { server.log.scan(" info upgraded ").size > upgrades }
    eventually(message: "one edge") do
      edges = server.processes.select { |process| Support::ProcessTree.title(process).start_with?("carat-edge") }
      edges.first if edges.one? && edges != [pid]
    end
  end

  def path(server)
    File.join(server.directory.path, "carat.pid")
  end

  def pid_file(server)
    server.directory.read("carat.pid")
  end
end
