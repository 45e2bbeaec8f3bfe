# frozen_string_literal: true

require "test_helper"

# The pages that browsers get in place of the sentences of the server: the option `error_pages`.
class ErrorPagesTest < Support::IntegrationTest
  # /dead ends its worker, /bad is not HTTP, /stuck waits, /own is an error of the application with a page of its own.
  APP = <<~'RUBY'
    actions = {
      "/dead" => -> { Process.kill(:KILL, Process.pid) && sleep },
      "/bad" => -> { [200, { "x" => "a\0b" }, ["bad"]] },
      "/stuck" => -> { sleep },
      "/own" => -> { [500, { "content-type" => "text/html" }, ["own"]] },
      "/raise" => -> { raise "broken on purpose" }
    }
    run ->(env) { actions.fetch(env["PATH_INFO"], -> { [200, {}, ["fine"]] }).call }
  RUBY
  PAGES = [413, 500, 502, 504].to_h { |status| ["public/#{status}.html", "<h1>page #{status}</h1>"] }.freeze
  BROWSER = { "Accept" => "text/html,application/xhtml+xml,*/*;q=0.8" }.freeze

  def test_a_browser_gets_the_page_of_the_status
    server = site
    { "/dead" => 502, "/bad" => 500, "/raise" => 500, "/stuck" => 504 }.each do |path, status|
      response = ask(server, "POST", path, fields: BROWSER).read_response
      assert_equal [status, "<h1>page #{status}</h1>", "text/html; charset=utf-8", "no-store"],
                   [response.status, response.body, response["content-type"], response["cache-control"]]
    end
    large = server.connect.write("POST / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nContent-Length: 3000\r\n\r\n")
    assert_equal [413, "<h1>page 413</h1>", "close"],
                 large.read_response.then { |it| [it.status, it.body, it["connection"]] }
  end

  def test_in_development_an_exception_is_a_page_with_source_and_backtrace
    [{ threads: 1 }, { fibers: 2 }].each do |size|
      server = serve(APP.sub("on purpose", "<b>\u001b"), workers: 1, **size)
      page, text = [BROWSER, {}].map { |fields| server.get("/raise", fields:) }

      assert_equal [500, 500, "text/html; charset=utf-8", "text/plain; charset=utf-8"],
                   [page.status, text.status, page["content-type"], text["content-type"]]
      assert_match(%r{<h1>The application raised.*config\.ru:6:in .*broken &lt;b&gt;.*RuntimeError}m, page.body)
      assert_match(/\A\S+config\.ru:6:in .*broken <b>[^\e]* \(RuntimeError\)$.*^>    6 \| .*^config\.ru:8:in /m,
                   text.body)
      assert_equal "", server.request("HEAD", "/raise").body
    end
    %w[production test].each do |environment|
      server = serve(APP, workers: 1, threads: 1, env: { "RACK_ENV" => environment })
      response = server.get("/raise", fields: BROWSER)
      assert_equal [500, "Internal Server Error\n"], [response.status, response.body]
    end
  end

  def test_other_clients_get_the_sentence
    server = site
    [{}, { "Accept" => "*/*" }, { "Accept" => "application/json" }].each do |fields|
      response = ask(server, "POST", "/bad", fields: fields).read_response
      assert_equal [500, "text/plain", "the application's response is not valid HTTP\n"],
                   [response.status, response["content-type"], response.body]
    end
    assert_equal 400, server.connect.write("GET / HTTP/1.1\r\nAccept: text/html\r\n\r\n").read_response.status
  end

  def test_pages_of_the_application_stay
    assert_equal [500, "own"], site.get("/own", fields: BROWSER).then { |response| [response.status, response.body] }
  end

  def test_pages_are_read_again_on_sighup_and_a_bad_one_changes_nothing
    server = site
    server.directory.write("public/500.html", "new")
    Process.kill(:HUP, server.pid)
    eventually(message: "the new page") { server.get("/bad", fields: BROWSER).body == "new" }

    server.directory.write("public/500.html", "x" * 300_000)
    Process.kill(:HUP, server.pid)
    await_log(server, %r{ error the old error pages stay cause="?error_pages: /.*500.html: it is larger than 256})
    assert_equal "new", server.get("/bad", fields: BROWSER).body
  end

  def test_a_restart_reads_the_pages_of_the_new_configuration
    server = serve(APP, config: 'error_pages "public"', files: PAGES.merge("other/500.html" => "other"))
    server.directory.write(Support::ServerOptions::CONFIG, 'error_pages "other"')
    Process.kill(:USR1, server.pid)

    eventually(message: "the other page") { server.get("/bad", fields: BROWSER).body == "other" }
  end

  def test_a_page_that_is_too_large_keeps_the_server_from_starting
    error = assert_raises(Support::Server::BootFailed) { site("public/502.html" => "x" * 300_000) }

    assert_match(%r{error_pages: /.*/public/502.html: it is larger than 256 KiB}, error.message)
  end

  def test_a_fifo_in_place_of_a_page_ends_the_boot
    app = "run ->(_env) { [200, {}, []] }"
    server = server(app: app, files: { "pages/500.html" => "" }, args: %w[--error-pages pages])
    path = File.join(server.directory.path, "pages/503.html")
    File.mkfifo(path)

    assert_equal 1, server.run.exitstatus
    assert_equal "carat: error_pages: #{path}: it is not a regular file\n", server.log
  end

  private

  def site(files = {})
    serve(APP, workers: 1, threads: 2, files: PAGES.merge(files), env: { "RACK_ENV" => "test" },
               args: %w[--error-pages public --max-body 2000 --request-timeout 1])
  end
end
