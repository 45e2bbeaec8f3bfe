# frozen_string_literal: true

require "test_helper"
require "json"
require "net/http"
require "open3"
require "tmpdir"

# What a monitoring system reads: the listener of the option `metrics`.
class MetricsTest < Support::IntegrationTest
  APP = 'run ->(env) { [env["PATH_INFO"].start_with?("/bad") ? 500 : 200, {}, ["ok"]] }'
  OPEN_METRICS = { "Accept" => "application/openmetrics-text; version=1.0.0" }.freeze
  PROMETHEUS = <<~YAML
    global: { scrape_interval: 1s, scrape_timeout: 1s }
    scrape_configs: [{ job_name: carat, static_configs: [{ targets: ["%s"] }] }]
  YAML

  def test_requests_are_counted_by_the_class_of_their_status
    server = start
    3.times { server.get("/") }
    server.get("/bad")

    await_sample("carat_request_duration_seconds_count{status=\"2xx\"} 3")
    # Memory is read soon after the worker is ready.
    eventually { scrape.body.match?(/^carat_memory_private_bytes\{kind="worker"\} [1-9]/) }
    eventually { scrape.body.match?(/^carat_gc_time_seconds_total\{kind="mold"\} 0\.\d*[1-9]/) }
    text = scrape.body
    assert_includes text, "carat_request_app_time_seconds_count{status=\"5xx\"} 1\n"
    assert_includes text, "carat_workers{state=\"serving\"} 1\n"
    assert_match(/^carat_jit_code_bytes\{kind="worker"\} \d+$/, text)
    assert_match(/^carat_supervisor_events_total\{event="worker ready"\} 1$/, text)
    refute_includes text, "puma"
  end

  def test_connections_handshakes_and_replacements_are_counted_by_their_kind
    certificate = Support::TestCertificate.new("localhost", "127.0.0.1")
    server = start(binds: ["tcp://127.0.0.1:0", "tls://127.0.0.1:0?cert=server.crt&key=server.key"],
                   files: certificate.files, args: %w[--worker-requests 1])
    Support::TlsClient.connect(server, trust: certificate.certificate, nth: 1).get
    2.times { server.get("/") }

    await_sample("carat_tls_handshakes_total{result=\"established\"} 1")
    await_sample("carat_client_connections_total{protocol=\"http/1.1\"} 3")
    eventually { scrape.body.match?(/^carat_worker_replacements_total\{reason="worker_requests"\} [1-3]$/) }
  end

  def test_full_collections_are_counted_by_their_reasons
    skip "Ruby #{RUBY_VERSION} does not tell of them: 3.4 does" if RUBY_VERSION < "3.4"

    server = start("run ->(_env) { GC.start; [200, {}, []] }")
    2.times { server.get("/") }

    await_sample("carat_hasty_collections_total{reason=\"application\"} 2")
    text = scrape.body
    assert_includes text, "carat_full_collections_total{requests=\"within\",reason=\"force\"} 2\n"
    assert_match(/^carat_full_collection_time_seconds_total\{requests="within",reason="force"\} 0\.\d/, text)
    assert_includes text, "carat_full_collections_total{requests=\"between\",reason=\"oldgen\"} 0\n"
  end

  def test_the_utilization_is_the_share_of_busy_threads_in_the_last_seconds
    server = start(Support::Gate::APP, files: { "carat.rb" => 'pool "slow", paths: "/gate/*", threads: 1' })
    utilization = ->(name) { Float(scrape.body[/^carat_#{name} (\S+)$/, 1]) }
    assert_in_delta 0, utilization["utilization"]
    clients = Array.new(3) { ask(server, "GET", "/gate/1") }

    # The two that wait for their pool's thread do not ask for more threads.
    eventually { utilization['pool_utilization\{pool="slow"\}'] > 1.5 }
    assert_includes 0.5..1.0, utilization["utilization"]
    assert_in_delta 0, utilization['pool_utilization\{pool="main"\}']
  ensure
    clients&.each(&:close)
  end

  # The names of yabeda-puma-plugin and puma-metrics.
  def test_the_names_of_puma_stand_beside_its_own_on_request
    start
    names = scrape("/metrics?puma").body.scan(/^(puma_\w+) (\d+)$/).to_h

    assert_equal({ "puma_backlog" => "0", "puma_running" => "1", "puma_max_threads" => "1", "puma_pool_capacity" => "1",
                   "puma_workers" => "1", "puma_booted_workers" => "1", "puma_old_workers" => "0" }, names)
  end

  def test_the_board_for_grafana_reads_what_is_there
    start.get("/bad")
    await_sample("carat_request_duration_seconds_count{status=\"5xx\"} 1")
    board = JSON.parse(File.read("deploy/grafana/carat.json"))
    read = board.fetch("panels").flat_map { |panel| panel.fetch("targets").map { |it| it.fetch("expr") } }
    names = read.join.scan(/carat_\w+/).uniq.map { |name| name.sub(/_(bucket|count|total)\z/, "") }

    assert_empty(names.reject { |name| scrape.body.match?(/^# TYPE #{name}(_total)? /) })
  end

  def test_the_number_of_series_is_the_same_for_any_number_of_paths
    server = start
    client = server.connect
    client.get("/first")
    await_sample("carat_request_duration_seconds_count{status=\"2xx\"} 1")
    before = scrape.body.lines.size
    1000.times { |number| client.get("/path/#{number}?#{number}") }

    await_sample("carat_request_duration_seconds_count{status=\"2xx\"} 1001")
    assert_equal before, scrape.body.lines.size
  end

  def test_promtool_finds_nothing_to_complain_about
    skip "promtool is not installed (apt install prometheus)" unless installed?("promtool")

    start.get("/")
    await_sample("carat_request_duration_seconds_count{status=\"2xx\"} 1")
    complaints, status = Open3.capture2e("promtool", "check", "metrics", stdin_data: scrape.body)
    assert_equal ["", true], [complaints, status.success?]
    assert scrape(headers: OPEN_METRICS).body.end_with?("# EOF\n")
  end

  def test_prometheus_scrapes_the_server
    skip "prometheus is not installed (apt install prometheus)" unless installed?("prometheus")

    start
    Dir.mktmpdir do |directory|
      File.write("#{directory}/prometheus.yml", format(PROMETHEUS, "127.0.0.1:#{@port}"))
      reader = IO.popen(["prometheus", "--config.file=#{directory}/prometheus.yml", "--web.listen-address=127.0.0.1:0",
                         "--storage.tsdb.path=#{directory}/data"], err: "#{directory}/log")
      assert_equal "1024", eventually { queue_limit(File.read("#{directory}/log")) }
    ensure
      Process.kill(:KILL, reader.pid) if reader
      reader&.close
    end
  end

  def test_health_checks_say_in_a_line_why_not
    server = start(Support::Gate::APP, args: %w[--drain-delay 60])

    assert_equal %w[alive ready started], (%w[/livez /readyz /startupz].map { |path| scrape(path).body.chomp })
    server.kill(:TERM)
    await_log(server, / info draining /)
    assert_equal ["503", "the server is draining\n"], scrape("/readyz").then { |it| [it.code, it.body] }
  end

  def test_the_server_has_started_when_the_application_is_loaded
    loading = server(app: "File.read('loaded')\n#{APP}", args: %w[--metrics tcp://127.0.0.1:0])
    File.mkfifo(loaded = File.join(loading.directory.path, "loaded"))
    ready = loading.launch
    @port = await_log(loading, %r{ info metrics address=tcp://127.0.0.1:(\d+)})[1]

    assert_equal ["503", "the server is starting\n"], scrape("/startupz").then { |it| [it.code, it.body] }
    assert_equal "alive\n", scrape("/livez").body
    File.write(loaded, "")
    eventually { scrape("/startupz").body == "started\n" }
  ensure
    ready&.close
  end

  def test_scrapers_that_read_nothing_harm_nobody
    server = start
    idle = Array.new(20) { TCPSocket.new("127.0.0.1", @port) }

    assert_equal 200, server.get("/").status
    idle.last.write("GET / HTTP/1.1\r\nX: #{"x" * 9000}\r\n")
    assert_match(/\AHTTP.1.1 431 /, idle.last.readpartial(100))
    idle.each(&:close)
    eventually { scrape("/livez").body == "alive\n" }
  end

  def test_silent_clients_do_not_delay_a_health_check
    start
    silent = Array.new(8) { TCPSocket.new("127.0.0.1", @port) }

    assert_equal "alive\n", scrape("/livez").body
    # Only the first has given its place; a server that waits for their deadline ends all.
    assert_equal silent.first(1), silent.select { |client| client.wait_readable(0) }
    assert_nil silent.first.read(1)
  ensure
    silent&.each(&:close)
  end

  def test_a_star_is_every_address_of_the_machine
    server = serve(APP, threads: 1, args: %w[--metrics tcp://*:0])
    @port = await_log(server, /^.* info metrics address=tcp:.*:(\d+)$/)[1]

    assert_equal "alive\n", scrape("/livez").body
  end

  def test_the_dashboard_is_not_for_pages_of_another_site
    start
    status = ->(path, host) { scrape(path, headers: { "Host" => host }).code }

    paths = %w[/dashboard.json /dashboard /metrics /livez]
    assert_equal(%w[403 403 200 200], paths.map { |path| status[path, "evil.example"] })
    assert_equal %w[200 200], (["localhost:#{@port}", "[::1]"].map { |host| status["/dashboard.json", host] })
  end

  def test_the_dashboard_shows_what_runs_and_loads_nothing_from_elsewhere
    server = start(Support::Gate::APP)
    client = server.connect
    client.write("GET /gate/%3Cb%3E?token=secret HTTP/1.1\r\nHost: a\r\n\r\n")
    page = scrape("/dashboard")
    data = eventually { dashboard.then { |it| it if it.fetch("requests").any? } }

    assert_equal ["GET /gate/%3Cb%3E", 1], data.fetch("requests").first.values_at("request", "worker")
    assert_includes page["content-security-policy"], "default-src 'none'; style-src 'self'; script-src 'self'"
    assert_equal %w[dashboard.css dashboard.js], page.body.scan(/(?:src|href)="(?!data:)([^"]+)"/).flatten
    assert_equal %w[302 dashboard], scrape("/").then { |way| [way.code, way["location"]] }
    assert_equal File.basename(server.directory.path), data.fetch("name")
    assert_equal "405", Net::HTTP.post(URI("http://127.0.0.1:#{@port}/dashboard.json"), "").code
    skip Support::Browser.obstacle if Support::Browser.obstacle

    Support::Browser.open { |browser| look_at(browser) }
  end

  private

  def dashboard = JSON.parse(scrape("/dashboard.json").body)

  def look_at(browser)
    browser.visit("http://127.0.0.1:#{@port}/dashboard", screen: Support::Browser::PHONE, scheme: "dark")
    text = "document.querySelector('#requests td.path')?.textContent"
    assert_equal "GET /gate/%3Cb%3E", eventually { browser.evaluate(text) }
    # The first sample comes after five seconds.
    eventually { browser.evaluate("document.querySelectorAll('#plots .curve').length").to_i > 5 }
    assert_match(/\A[^ ]+ · Carat\z/, browser.evaluate("document.title"))
    assert_match(/\ALast \d+ s, a point every 5 s\z/, browser.evaluate("document.getElementById('span').textContent"))
    browser.evaluate("document.querySelector('#plots svg').focus()")
    browser.press("ArrowLeft")
    assert_match(/ ago: all \d/, browser.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert_operator browser.evaluate("document.documentElement.scrollWidth"), :<=, Support::Browser::PHONE[:width]
    assert_empty browser.complaints
  end

  def start(app = APP, args: [], **options)
    server = serve(app, threads: 1, args: [*args, "--metrics", "tcp://127.0.0.1:0"], **options)
    @port = await_log(server, %r{ info metrics address=tcp://127.0.0.1:(\d+)})[1]
    server
  end

  def scrape(path = "/metrics", headers: {})
    Net::HTTP.start("127.0.0.1", Integer(@port)) { |http| http.get(path, headers) }
  end

  # What Prometheus has of one metric; nil as long as it has nothing.
  def queue_limit(log)
    port = log[/Listening on"? address=127.0.0.1:(\d+)/, 1] or return
    reply = Net::HTTP.get_response("127.0.0.1", "/api/v1/query?query=carat_queue_limit", Integer(port))
    # 503 until it has started.
    JSON.parse(reply.body).dig("data", "result", 0, "value", 1) if reply.code == "200"
  end

  def installed?(program) = system("which", program, out: File::NULL)

  # The line of a request is counted when its response has been sent.
  def await_sample(line) = eventually { scrape.body.include?("#{line}\n") }
end
