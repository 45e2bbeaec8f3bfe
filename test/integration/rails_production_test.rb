# frozen_string_literal: true

require "tmpdir"
require "test_helper"

# Rails in production: what the mold loads, what the log says, and what lies in front.
class RailsProductionTest < Support::ShopTest
  CLASSIC = { "config/environments/production.rb" => <<~RUBY }.freeze
    Rails.application.configure do
      config.cache_classes = true
      config.eager_load = false
      config.logger = ActiveSupport::Logger.new($stdout)
    end
  RUBY

  QUEUE_TIME = File.read(File.expand_path("../../docs/rails.md", __dir__))[%r{^# config/initializers.*?(?=^```)}m]

  def test_the_queue_time_of_a_request_is_told_by_a_notification
    server = shop(files: { "config/initializers/queue_time.rb" => QUEUE_TIME.sub('"queued', '"#{start} queued') },
                  threads: 1)
    first = ask(server, "GET", "/events/two")
    await_log(server, /^\[[\w-]+\] t=\S+ queued for 0\.\d+ s$/)
    second = ask(server, "GET", "/items")
    see_edge_go_round(server)
    released = Time.now.to_f
    server.directory.write("go", "")

    assert_equal [200, 200], [first, second].map { |client| client.read_response.status }
    start = await_log(server, /t=\S+ queued .*t=(\S+) queued/m)[1].to_f
    assert_operator start, :<=, released
    assert_equal 200, server.get("/items", fields: { "X-Request-Start" => "t=1.5" }).status
    await_log(server, /t=1\.5 queued for 1\d+\.\d+ s$/)
  end

  def test_the_application_is_loaded_before_the_fork
    [{}, CLASSIC].each do |files|
      server = shop(files: files, workers: 2, threads: 2)
      answer = json(server.get("/workers/show"))

      assert_equal server.mold, answer.fetch("loaded_by")
      assert_includes server.workers.values, answer.fetch("pid")
      assert_equal "thread", answer.fetch("isolation")
    end
  end

  def test_the_doctor_names_a_thread_that_no_worker_has_and_its_gem
    thread = "TIMER = Concurrent::TimerTask.new(execution_interval: 3600) { nil }.tap(&:execute)\n"
    server = server(app: Support::Shop::FILES["config.ru"], flags: false, args: %w[doctor],
                    files: Support::Shop::FILES.merge("config/initializers/timer.rb" => thread),
                    env: { "RAILS_ENV" => "production" })

    assert_predicate server.run, :success?
    assert_match(/^warning +threads: no worker has the threads .*ruby_thread_pool_executor.* \(gem concurrent-ruby-\d/,
                 server.log)
  end

  def test_a_line_of_the_log_is_tagged_with_the_id_of_its_request
    server = shop(threads: 2)
    own, given = server.get("/items"), server.get("/workers/show", fields: { "X-Request-Id" => "from-the-proxy" })

    assert_equal "from-the-proxy", given["x-request-id"]
    await_log(server, %r{^\[#{own["x-request-id"]}\] Started GET "/items" for 127\.0\.0\.1})
    await_log(server, %r{^\[from-the-proxy\] Started GET "/workers/show"})
    await_log(server, /^\[from-the-proxy\] Completed 200 OK/)
  end

  def test_the_level_of_the_log_comes_from_the_environment
    server = shop(env: { "RAILS_LOG_LEVEL" => "error" }, threads: 2)
    server.get("/items")
    server.get("/requests/broken")

    await_log(server, /RuntimeError \(broken on purpose\)/)
    refute_includes server.log, "Started GET"
  end

  def test_tls_that_ends_in_front_is_assumed
    skip "Rails 7.1 brought config.assume_ssl" if Rails.version < "7.1"
    server = shop(env: { "ASSUME_SSL" => "1" }, threads: 2)
    seen = json(server.get("/requests/show", fields: { "Host" => "shop.test" }))

    assert_equal [true, "https://shop.test/requests/show"], seen.values_at("ssl", "url")
    marked = server.get("/requests/marked")
    assert_equal(%w[secure secure], marked.values("set-cookie").map { |line| line[/secure/] })
    assert_equal "max-age=63072000; includeSubDomains", marked["strict-transport-security"]
  end

  def test_tls_is_demanded_of_a_proxy_that_says_what_the_client_used
    skip "Rails 7.1 brought config.assume_ssl" if Rails.version < "7.1"
    files = { "config/environments/production.rb" =>
                Support::Shop::FILES["config/environments/production.rb"].sub("config.assume_ssl = ", "") }
    server = shop(env: { "ASSUME_SSL" => "1" }, files: files, threads: 2, config: "warm_up \"/items\"\n")

    await_log(server, / info application warmed up requests=[1-9]/)
    refute_includes server.log, "warm_up /items"
    assert_equal [301, "https://localhost/items"], server.get("/items").then { |moved| [moved.status, moved["location"]] }
    assert_equal 200, server.get("/items", fields: { "X-Forwarded-Proto" => "https" }).status
  end
end

# What `rails new` of Rails 8.1 makes: Solid Queue, Cable, and Cache, Propshaft, importmap, Turbo, and Stimulus.
class RailsNewApplicationTest < Support::ShopTest
  # What a browser sends with a form of Turbo.
  TURBO = { "Accept" => "text/vnd.turbo-stream.html, text/html" }.freeze
  APP = Support::NewRailsApp
  COUNT = "document.querySelectorAll('#posts > div').length"

  include Support::ControlledServer

  def setup
    super
    @directories = []
    APP.obstacle&.then { |obstacle| skip obstacle }
  end

  def teardown
    super
    FileUtils.rm_rf(@directories)
  end

  def test_pages_assets_forms_jobs_and_streams_work_in_production
    server = start("production")
    jobs = Process.spawn({ "RAILS_ENV" => "production" }, RbConfig.ruby, "bin/jobs",
                         chdir: server.directory.path, out: File::NULL, err: File::NULL)
    use(server)
    assert_equal "public, max-age=31556952", asset(server, "stylesheet")["cache-control"]
    refute_includes server.log, "share 3 connections"
  ensure
    jobs&.then { |pid| Process.kill(:TERM, pid) && Process.wait(pid) }
  end

  def test_pages_assets_forms_jobs_and_streams_work_in_development
    server = start("development")
    use(server)
    assert_equal 200, asset(server, "stylesheet").status
    server.directory.write("app/views/posts/index.html.erb", "changed")
    assert_includes server.get("/posts").body, "changed"
  end

  # By the official client of Turbo, over the cable of the edge, and by jobs.
  def test_two_pages_in_browsers_hear_of_posts_through_a_restart
    Support::Browser.obstacle&.then { |obstacle| skip obstacle }
    files = APP.files.merge("config/cable.yml" => "production:\n  adapter: carat\n")
    server = serve(APP.files["config.ru"], workers: 1, threads: 3, files:, env: { "RAILS_ENV" => "production" },
                                           config: 'process("jobs") { SolidQueue::Supervisor.start }',
                                           args: ["--cable", "/cable", *CONTROL_SOCKET])
    pages = Array.new(2) { page(server) }
    [nil, "restart"].each.with_index(1) do |order, number|
      assert_equal 0, carat(server, order).last if order
      publish(server)
      pages.each { |browser| eventually { browser.evaluate(COUNT) == number } }
    end

    assert_equal [[], []], pages.map(&:complaints)
    assert_match(/^cable: 2 sockets, 1 stream; 0 commands, 0 lost;/, carat(server, "status").first)
  ensure
    pages&.each(&:close)
  end

  def test_the_configuration_of_puma_is_translated
    server = server(app: APP.files["config.ru"], files: APP.files, flags: false, args: %w[import])
    assert_predicate server.run, :success?
    ["\nthreads ", "bind \"tcp://*:\#{ENV.fetch(\"PORT\", 3000)}\"\n",
     "restart_file \"tmp/restart.txt\"\n",
     "process(\"jobs\", overlap: true, stop_timeout: \"30s\") { SolidQueue::Supervisor.start } if ENV"].each do |line|
      assert_includes server.log, line
    end
  end

  private

  def start(rails)
    serve(APP.files["config.ru"], workers: 1, threads: 3, files: APP.files, env: { "RAILS_ENV" => rails })
  end

  # A post reaches the subscriber of a page as a stream, and its job runs.
  def use(server)
    visitor = visitor(server)
    socket = subscriber(server, visitor.request("GET", "/posts").body)
    form = visitor.request("GET", "/posts/new").body
    assert_equal 422, post(visitor, "token" => "none").status unless server.log.include?("environment=development")
    made = post(visitor, form[/name="authenticity_token" value="([^"]+)"/, 1])

    assert_equal [302, "/posts/1"], [made.status, URI(made["location"]).path]
    assert_includes heard(socket), "<turbo-stream action=\"append\" target=\"posts\">"
    eventually(message: "the job") { server.directory.read("tmp/job") == "Hello" }
  end

  # A browser that shows the posts, and hears of further ones.
  def page(server)
    browser = Support::Browser.new(Dir.mktmpdir.tap { |directory| @directories << directory })
    browser.visit("http://localhost:#{server.port}/posts")
    eventually { browser.evaluate("document.querySelector('turbo-cable-stream-source[connected]') !== null") }
    browser
  end

  def publish(server)
    visitor = visitor(server)
    form = visitor.request("GET", "/posts/new").body
    assert_equal 302, post(visitor, form[/name="authenticity_token" value="([^"]+)"/, 1]).status
  end

  def post(visitor, token)
    body = URI.encode_www_form("authenticity_token" => token, "post[title]" => "Hello")
    visitor.request("POST", "/posts", fields: FORM.merge(TURBO), body:)
  end

  def asset(server, kind)
    server.get(server.get("/posts").body[/<link rel="#{kind}" href="([^"]+)"/, 1])
  end

  def subscriber(server, page)
    name = page[/signed-stream-name="([^"]+)"/, 1]
    socket = Support::WebSocketClient.new(server.connect, "/cable", "Origin" => "http://localhost")
    assert_predicate socket, :accepted?, socket.response.inspect
    socket.read_json { |message| message["type"] == "welcome" }
    socket.json("command" => "subscribe", "identifier" => JSON.generate("channel" => "Turbo::StreamsChannel",
                                                                        "signed_stream_name" => name))
    socket.read_json { |message| message["type"] == "confirm_subscription" }
    socket
  end

  def heard(socket)
    socket.read_json { |message| message["message"].is_a?(String) && message["identifier"] }.fetch("message")
  end
end
