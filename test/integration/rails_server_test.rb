# frozen_string_literal: true

require "test_helper"

# `rails server -u carat`, with each of its flags.
class RailsServerTest < Support::IntegrationTest
  LIBRARY = { "RUBYLIB" => File.join(Support::ServerOptions::ROOT, "lib") }.freeze
  HINTED = { "app/controllers/items_controller.rb" => <<~RUBY }.freeze
    class ItemsController < ActionController::Base
      def show
        request.send_early_hints("Link" => "</app.css>")
        head :ok
      end
    end
  RUBY
  PID_FILE = "tmp/pids/server.pid"

  def test_development_loads_once_logs_requests_and_has_a_pid_file_until_its_end
    server = rails
    server.get("/items/1")

    await_log(server, %r{^Started GET "/items/1"})
    assert_match(%r{Started GET "/items/1"}, server.directory.read("log/development.log"))
    assert_equal [server.mold.to_s], server.directory.read("loads").lines(chomp: true)
    assert_equal server.pid.to_s, server.directory.read(PID_FILE)
    assert_equal 0, server.stop.exitstatus
    refute_path_exists File.join(server.directory.path, PID_FILE)
  end

  def test_the_pid_file_of_a_boot_that_failed_is_removed
    server = server(**options([]), files: Support::RailsApp::FILES.merge("config.ru" => "raise \"no database\""))

    assert_equal 1, server.run.exitstatus
    await_log(server, /^carat: config\.ru:1: no database \(RuntimeError\)$/)
    refute_path_exists File.join(server.directory.path, PID_FILE)
  end

  def test_a_device_in_the_place_of_the_pid_file_is_not_deleted
    [["null", 1, 3], ["zero", 1, 5]].each do |name, *numbers|
      server = server(**options(["-P", "device"]))
      device = File.join(server.directory.path, "device")
      skip "no device can be made here" unless system("mknod", device, "c", *numbers.map(&:to_s), err: File::NULL)
      if name == "null"
        server.start.stop
      else
        assert_equal 1, server.run.exitstatus
        assert_match(/^carat: .* is not a pid file: choose another$/, server.log)
      end
      assert File.chardev?(device)
    end
  end

  def test_a_second_server_with_the_same_pid_file_is_refused_while_the_first_runs
    first = rails
    pid_file = File.join(first.directory.path, PID_FILE)
    second = server(**options(["-P", pid_file]))

    assert_equal 1, second.run.exitstatus
    assert_match(/A server is already running/, second.log)
    assert_equal first.pid.to_s, first.directory.read(PID_FILE)
    first.stop
    rails("-P", pid_file)
  end

  def test_a_unix_socket
    server = server(**options([], binding: "unix://carat.sock", port: [])).start

    assert_equal ["unix://#{server.directory.path}/carat.sock"], server.urls
    assert_equal "item 1 of #{server.pid} in development", server.get("/items/1").body
  end

  def test_a_daemon_serves_from_the_directory_of_the_application
    server = server(**options(%w[-d], files: { "config/carat.rb" => 'log "carat.log"' }))
    server.run
    pid = eventually { server.directory.read(PID_FILE)[/\A\d+\z/] }.to_i
    client = server.connect(await_log(server, /listening url=(\S+)/)[1])
    client.request("GET", "/items/1")

    assert_equal "item 1 of #{pid} in development", client.read_response.body
    Process.kill(:TERM, pid)
    await_emptiness(server)
    refute_path_exists File.join(server.directory.path, PID_FILE)
  end

  def test_a_variable_makes_carat_the_default_server
    server = rails(env: { "RACK_HANDLER" => "carat" }, using: [])

    assert_equal "item 1 of #{server.pid} in development", server.get("/items/1").body
  end

  def test_early_hints_are_turned_on_by_the_flag_of_rails
    client = rails("--early-hints", files: HINTED).connect.request("GET", "/items/1")

    assert_equal [103, "</app.css>"], client.read_response.then { |hints| [hints.status, hints["link"]] }
    assert_equal 200, client.read_response.status
  end

  private

  def rails(*args, **options)
    server(**options(args, **options)).start
  end

  def options(args, using: %w[-u carat], port: %w[-p 0], binding: "127.0.0.1", env: {}, files: {}, **options)
    { app: nil, flags: false, files: Support::RailsApp::FILES.merge(files), env: LIBRARY.merge(env),
      command: [RbConfig.ruby, "bin/rails"], args: ["server", *using, "-b", binding, *port, *args],
      **options }
  end
end
