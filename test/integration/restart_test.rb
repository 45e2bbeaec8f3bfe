# frozen_string_literal: true

require "json"
require "test_helper"

# New code takes over while clients are served.
class RestartTest < Support::IntegrationTest
  include Support::ControlledServer

  CODE = <<~'RUBY'
    VERSION = File.read("version").strip
    raise "version #{VERSION} is broken" if VERSION.start_with?("broken")
    run(lambda do |env|
      sleep 0.2 if env["PATH_INFO"] == "/slow"
      host = VERSION.end_with?("elsewhere") ? "www.example.com" : env["HTTP_HOST"]
      demands_tls = VERSION.include?("tls") && (env["HTTPS"] != "on" || host != env["HTTP_HOST"])
      return [301, { "location" => "https://#{host}#{env["PATH_INFO"]}" }, []] if demands_tls
      return [503, {}, ["down"]] if env["PATH_INFO"] == "/up" && VERSION.start_with?("down")
      [200, {}, [VERSION]]
    end)
  RUBY
  COMMAND = Support::ServerOptions::COMMAND.join(" ")

  def test_new_code_answers_and_no_request_fails
    { threads: 3, fibers: 16 }.each do |kind, size|
      server = start(workers: 2, kind => size)
      load = Load.new(server)
      (2..3).each { |version| release(server, version, load) }
      load.stop

      assert_equal [200], load.statuses.uniq
      assert_empty load.stale
      assert_operator load.statuses.size, :>, 50
      assert_equal 2, server.log.scan(" info restarted ").size
    end
  end

  def test_broken_code_leaves_the_old_code_and_says_why
    server = start(workers: 1)
    server.directory.write("version", "broken")
    out, err, status = carat(server, "restart")

    assert_equal ["", 1], [out, status]
    assert_match(/\Acarat: not restarted: config.ru:2: version broken is broken \(RuntimeError\)/, err)
    assert_equal "1", server.get.body
    server.directory.write("version", "2")

    assert_equal ["carat: restarted: generation 3 serves with 1 worker\n", "", 0], carat(server, "restart")
    assert_equal "2", server.get.body
  end

  def test_code_that_does_not_answer_the_check_leaves_the_old_code
    server = start(workers: 2, config: %(restart_check "/up"\nworker_requests 1_000_000\n))
    server.directory.write("version", "down")

    assert_equal ["", "carat: not restarted: restart_check /up: responded with 503\n", 1], carat(server, "restart")
    assert_equal "1", server.get.body
    eventually(message: "the old generation alone") { server.workers.size == 2 && server.children.size == 3 }
  end

  def test_a_check_speaks_https_where_the_application_demands_it
    server = start(workers: 1, config: %(restart_check "/up"\n))
    { "down-tls" => /: responded with 503$/, "tls-elsewhere" => %r{: responded with 301 to https://www.example.com/up, so} }
      .each do |version, reason|
        server.directory.write("version", version)
        assert_match(reason, carat(server, "restart")[1])
        assert_equal "1", server.get.body
      end
    server.directory.write("version", "good-tls")

    assert_equal 0, carat(server, "restart").last
    assert_equal 301, server.get.status
  end

  def test_settings_are_read_again_and_those_of_the_edge_are_named
    server = start(config: "workers 1\n")
    server.directory.write("carat.rb", "workers 2\nthreads 5\nmax_headers 50\ncompress true\n")

    assert_equal ["carat: restarted: generation 2 serves with 2 workers\n", "", 0], carat(server, "restart")
    await_log(server, /warn changed options that take effect at an upgrade .* options="max_headers, compress"/)
    eventually(message: "two workers") { server.workers.size == 2 }
    lanes = server.workers.values.map { |pid| Dir["/proc/#{pid}/task/*/comm"].count { |name| lane?(name) } }

    assert_equal [5, 5], lanes
  end

  def test_format_of_the_log_stays_on_both_sides
    server = start(workers: 1)
    server.directory.write("carat.rb", "log_format 'json'\numask '077'\n")
    server.directory.write("config.ru", "run(->(env) { env['rack.errors'].puts('from the application') })\n")
    carat(server, "restart")
    server.get
    await_log(server, /^from the application$/)

    assert_match(/an upgrade or the next start options="umask, log_format"/, server.log)
    refute_match(/^\{/, server.log)
  end

  def test_link_to_the_release_is_followed
    server = server(files: { "1/config.ru" => CODE, "1/version" => "1", "2/config.ru" => CODE, "2/version" => "2" },
                    command: ["sh", "-c", "ln -s 1 current; cd current; exec #{COMMAND} \"$@\"", "carat"],
                    args: ["--control-socket", "../carat.sock"]).start
    File.unlink(File.join(server.directory.path, "current"))
    File.symlink("2", File.join(server.directory.path, "current"))

    assert_equal "1", server.get.body
    assert_equal 0, carat(server, "restart").last
    assert_equal "2", server.get.body
    assert_equal File.join(server.directory.path, "2"), File.readlink("/proc/#{server.workers.values.first}/cwd")
  ensure
    server&.stop # its processes are in another directory, where teardown does not look
  end

  def test_rollback_goes_back_to_the_old_code
    server = start(workers: 2)
    server.directory.write("version", "2")
    carat(server, "restart")

    assert_equal "2", server.get.body
    assert_equal ["carat: rolled back: generation 3 serves with 2 workers\n", "", 0],
                 carat(server, "restart", "--rollback")
    assert_equal "1", server.get.body
  end

  def test_without_a_previous_mold_there_is_no_rollback
    server = start(workers: 1)
    reason = "carat: there is nothing to go back to: no previous mold is kept (keep_previous)\n"

    assert_equal ["", reason, 1], carat(server, "restart", "--rollback")
  end

  def test_signal_restarts_and_a_second_one_follows
    server = start(workers: 1)
    server.directory.write("version", "2")
    server.kill(:USR1)
    await_log(server, / info restarting$/)
    2.times { server.kill(:USR1) }
    await_log(server, /restarted gen=\d+ .*restarted gen=\d+/m)

    assert_equal "2", server.get.body
    assert_equal 2, server.log.scan(" info restarting").size
  end

  def test_restart_file_restarts_when_it_is_made_or_touched
    server = start(workers: 1, config: %(restart_file "restart.txt"\n))
    server.directory.write("version", "2")
    file = server.directory.write("restart.txt", "")
    eventually(message: "the code of the made file") { server.get.body == "2" }
    server.directory.write("version", "3")
    File.utime(0, 0, file)

    eventually(message: "the code of the touched file") { server.get.body == "3" }
    assert_equal 2, server.log.scan(" info restarting").size
  end

  # Clients that ask without a pause, on new and on open connections.
  class Load
    attr_reader :statuses, :stale

    def initialize(server)
      @server = server
      @least = 1
      @statuses = []
      @stale = []
      @clients = %w[/ / /slow /slow].map { |path| Thread.new { ask(path) until @done } }
    end

    # From now on no answer of an older version may come.
    def expect(version)
      @least = version
    end

    def stop
      @done = true
      @clients.each(&:value)
    end

    private

    def ask(path)
      least = @least
      response = @server.get(path)
      @statuses << response.status
      @stale << [least, response.body] if response.body.to_i < least
    end
  end

  private

  # Releases the version; every second time a broken one before.
  def release(server, version, load)
    server.directory.write("version", "broken") if version.odd?
    assert_equal 1, carat(server, "restart").last if version.odd?
    server.directory.write("version", version.to_s)
    assert_equal 0, carat(server, "restart").last
    load.expect(version)
  end

  def lane?(comm)
    File.read(comm).start_with?("carat lane")
  rescue SystemCallError
    false
  end
end
