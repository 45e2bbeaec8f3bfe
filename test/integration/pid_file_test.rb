# frozen_string_literal: true

require "test_helper"

class PidFileTest < Support::IntegrationTest
  HELLO = 'run ->(_env) { [200, {}, ["hello"]] }'
  ARGS = %w[--pidfile carat.pid].freeze

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

  def test_that_of_a_killed_server_and_of_another_program_is_replaced
    dead = Process.spawn("true").tap { |pid| Process.wait(pid) }
    [dead, Process.pid].each do |pid|
      server = server(app: HELLO, args: ARGS, files: { "carat.pid" => "#{pid}\n" }).start

      assert_equal "#{server.pid}\n", pid_file(server)
    end
  end

  def test_a_fifo_and_a_file_of_20_gb_in_its_place_are_replaced
    sparse = ->(path) { File.open(path, "w") { |file| file.truncate(20 << 30) } }
    [File.method(:mkfifo), sparse].each do |make|
      server = server(app: HELLO, args: ARGS)
      make.call(path(server))
      server.start

      assert_equal "#{server.pid}\n", pid_file(server)
    end
  end

  def test_that_of_a_running_server_stays
    other = serve(HELLO, args: ARGS)
    server = server(app: HELLO, args: ["--pidfile", path(other)])

    assert_equal 1, server.run.exitstatus
    assert_equal "carat: pidfile: #{path(other)} names a running server, process #{other.pid}: stop it or choose " \
                 "another file\n", server.log
    assert_equal "#{other.pid}\n", pid_file(other)
  end

  private

  def path(server)
    File.join(server.directory.path, "carat.pid")
  end

  def pid_file(server)
    server.directory.read("carat.pid")
  end
end
