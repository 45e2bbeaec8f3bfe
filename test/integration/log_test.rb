# frozen_string_literal: true

require "json"
require "socket"
require "test_helper"

class LogTest < Support::IntegrationTest
  APP = <<~'RUBY'
    run(lambda do |env|
      sleep 0.05 if env["PATH_INFO"] == "/slow"
      [env["PATH_INFO"] == "/missing" ? 404 : 200, { "content-type" => "text/plain" }, ["hello"]]
    end)
  RUBY
  TIMES = /queue=(\d+\.\d{3}) app=(\d+\.\d{3}) total=(\d+\.\d{3})/
  COMMON_STAMP = %r{\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\]}
  STAMP = /\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (info|warn|error) /

  def test_lifecycle_has_one_line_for_each_event_with_who_it_was
    server = serve(APP, workers: 2)
    await_workers(server, 2)
    edge, mold, (one, two) = server.pid, server.mold, server.workers.values_at(1, 2)
    server.stop
    lines = server.log.lines(chomp: true)

    assert_empty lines.grep_v(STAMP)
    events = lines.map { |line| line.sub(STAMP, "").sub(/(worker ready .*) boot_ms=\d+\z/, "\\1") }.sort
    jit = " jit=YJIT" if defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?
    assert_equal "application loaded environment=development ruby=#{RUBY_VERSION}#{jit} pid=#{mold}", events.shift
    assert_match(/\Alistening url=http:\S+ version=\d\S+ pid=#{edge}\z/, events.shift)
    assert_equal "mold ended gen=1 pid=#{mold} cause=\"exit status 0\"", events.shift
    assert_match(/\Amold ready gen=1 pid=#{mold} boot_ms=\d+\z/, events.shift)
    expected = ["stopped pid=#{edge}", "stopping pid=#{edge}", *worker_events(1, one), *worker_events(2, two)]
    assert_equal expected.sort, events
  end

  def test_access_log_is_off_by_default
    server = serve(APP)
    server.get("/slow")
    server.stop

    refute_includes server.log, "/slow"
  end

  def test_access_line_has_the_common_format_and_times_in_milliseconds
    server = serve(APP, args: %w[--access-log])
    server.get("/slow?a=1")
    server.request("POST", "/missing", body: "x")
    server.request("HEAD", "/")
    get, post, head = access_lines(server, 3)

    assert_match(%r{\A127\.0\.0\.1 - - #{COMMON_STAMP} "GET /slow\?a=1 HTTP/1\.1" 200 5 "-" "-" #{TIMES}\n\z}, get)
    assert_match(%r{"POST /missing HTTP/1\.1" 404 5 }, post)
    assert_match(%r{"HEAD / HTTP/1\.1" 200 0 }, head)
    queue, app, total = get.match(TIMES).captures.map(&:to_f)
    assert_operator app, :>=, 50
    assert_operator total + 0.002, :>=, queue + app # each is rounded
  end

  def test_access_line_names_referer_and_user_agent_escaped
    server = serve(APP, args: %w[--access-log])
    server.get("/", fields: { "Referer" => "http://a/\"\\", "User-Agent" => "caf\xE9 1".b })

    assert_includes access_lines(server, 1).first, ' 200 5 "http://a/\"\\\\" "caf\xE9 1" queue='
  end

  def test_client_on_a_unix_socket_has_no_address_in_the_access_log
    server = serve(APP, binds: ["unix://carat.sock"], args: %w[--access-log])
    server.get("/")

    assert access_lines(server, 1).first.start_with?("unix: - - [")
  end

  def test_access_line_of_a_request_that_waited_tells_for_how_long
    server = serve(Support::Gate::APP, threads: 1, args: %w[--access-log])
    first = ask(server, "GET", "/gate")
    await_arrivals(server, 1)
    waiting = ask(server, "GET", "/waits")
    see_edge_go_round(server)
    started = Support::Eventually.now
    eventually { Support::Eventually.now > started + 0.1 }
    server.gate.open
    [first, waiting].each(&:read_response)

    assert_operator access_lines(server, 2).grep(%r{/waits}).first.match(TIMES)[1].to_f, :>=, 100
  end

  def test_json_lines_all_parse
    server = serve(APP, args: %w[--access-log --log-format json], workers: 2)
    await_workers(server, 2)
    server.get("/slow?a=1", fields: { "User-Agent" => "curl\u009b\u202e" })
    Process.kill(:KILL, server.workers.fetch(2))
    await_workers(server, 3)
    server.stop
    lines = server.log.lines.map { |line| JSON.parse(line) }

    died = lines.find { |line| line["message"] == "worker died" }
    assert_equal ["error", 2, 1, "signal 9"], died.values_at("level", "worker", "gen", "cause")
    assert_kind_of Integer, died.fetch("pid")
    refute_match(/[\u009b\u202e]/, server.log)
    access = lines.find { |line| line.key?("target") }
    assert_equal ["GET", "/slow?a=1", "HTTP/1.1", 200, 5, "127.0.0.1", "curl\u009b\u202e", nil],
                 access.values_at("method", "target", "protocol", "status", "bytes", "remote", "user_agent", "referer")
    assert_operator access.fetch("app_ms"), :>=, 50
    assert_operator access.fetch("total_ms") + 0.002, :>=, access.values_at("app_ms", "queue_ms").sum # each is rounded
  end

  def test_client_that_goes_before_its_answer_is_a_499
    server = serve(Support::Gate::APP, threads: 1, args: %w[--access-log])
    ask(server, "GET", "/gate/gone").tap { await_arrivals(server, 1) }.close
    ask(server, "GET", "/waits").tap { see_edge_go_round(server) }.close
    lines = access_lines(server, 2)

    assert_match(%r{"GET /gate/gone HTTP/1\.1" 499 0 }, lines[0])
    assert_match(%r{"GET /waits HTTP/1\.1" 499 0 }, lines[1])
    server.gate.open
  end

  def test_what_the_edge_answers_itself_is_in_the_access_log
    server = serve("run ->(_env) { Process.kill(:KILL, Process.pid) }", args: %w[--access-log --max-body 10])
    server.request("POST", "/large", body: "x" * 11)
    server.request("POST", "/dies", body: "x")

    large, dies = access_lines(server, 2)
    assert_match(%r{"POST /large HTTP/1\.1" 413 }, large)
    assert_match(%r{"POST /dies HTTP/1\.1" 502 }, dies)
  end

  def test_hangup_opens_the_log_file_anew
    server = serve(APP, args: %w[--access-log --log server.log])
    server.get("/before")
    eventually { server.directory.read("server.log").include?("/before") }
    rename(server, "server.log", "old.log")
    server.kill(:HUP)
    eventually { server.directory.read("server.log").include?("log reopened") }
    server.get("/after")
    eventually { server.directory.read("server.log").include?("/after") }

    refute_includes server.directory.read("old.log"), "/after"
    refute_includes server.directory.read("server.log"), "/before"
    assert_predicate server, :running?
  end

  def test_hangup_of_the_whole_group_keeps_everybody
    server = serve(APP, spawn: { pgroup: true })
    processes = server.children.sort
    Process.kill(:HUP, -server.pid)
    await_log(server, /log reopened/)

    assert_equal 200, server.get("/").status
    assert_equal processes, server.children.sort
  end

  def test_log_file_is_appended_to
    server = server(app: APP, args: %w[--log server.log])
    server.directory.write("server.log", "earlier\n")
    server.start.stop

    assert_match(/\Aearlier\n.* mold ready /, server.directory.read("server.log"))
    assert_equal "", server.log
  end

  def test_standard_output_may_be_a_socket_and_survives_a_rotation
    reader, writer = UNIXSocket.pair
    server = serve(APP, args: %w[--log -], spawn: { %i[out err] => writer })
    server.kill(:HUP)
    lines = Support::DeadlineReader.new(reader)
    lines.read_through("log reopened", Support::Eventually.now + 20)

    refute_path_exists File.join(server.directory.path, "-")
  ensure
    [reader, writer].each { |socket| socket&.close }
  end

  def test_lines_do_not_overwrite_each_other_in_a_file_that_is_opened_twice
    app = 'run ->(env) { $stderr.puts("application #{env["PATH_INFO"]}"); [200, {}, []] }'
    command = ["sh", "-c", 'exec "$@" > both 2> both', "_", *Support::ServerOptions::COMMAND]
    server = serve(app, command:, args: %w[--access-log --log /dev/stdout])
    10.times { |number| server.get("/#{number}") }
    server.stop
    text = server.directory.read("both")

    10.times { |number| assert_match(%r{^application /#{number}$}, text) }
    assert_equal 10, text.scan(%r{^127\.0\.0\.1 .* "GET /\d HTTP/1\.1" 200 .*$}).size
  end

  def test_log_that_cannot_be_opened_anew_is_kept
    server = serve(APP, args: %w[--log logs/server.log], files: { "logs/none" => "" })
    rename(server, "logs", "old")
    server.kill(:HUP)

    eventually { server.directory.read("old/server.log").match?(/ error cannot reopen the log cause=/) }
    assert_equal 200, server.get("/").status
  end

  private

  def worker_events(number, pid)
    who = "worker=#{number} gen=1 pid=#{pid}"
    ["worker ready #{who}", "worker ends with the server #{who}", "worker ended #{who} cause=\"exit status 0\""]
  end

  # Waits for so many lines about requests, and returns them.
  def access_lines(server, count, pattern = %r{ HTTP/1\.1" \d{3} })
    eventually { server.log.lines.grep(pattern).then { |lines| lines if lines.size >= count } }
  end

  def rename(server, from, to)
    File.rename(*[from, to].map { |name| File.join(server.directory.path, name) })
  end
end
