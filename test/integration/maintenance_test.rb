# frozen_string_literal: true

require "test_helper"

# The page that all clients get while it is there: the option `maintenance`.
class MaintenanceTest < Support::IntegrationTest
  APP = 'run ->(env) { [200, {}, ["application"]] }'
  PAGE = "tmp/maintenance.html"
  BROWSER = { "Accept" => "text/html" }.freeze
  SENTENCE = "the application is under maintenance\n"

  def test_the_page_is_there_as_long_as_its_file
    server = site("tmp/.keep" => "")
    assert_equal "application", server.get.body
    server.directory.write(PAGE, "<h1>soon</h1>")
    await_body(server, "<h1>soon</h1>")
    response = server.get("/any", fields: BROWSER)

    assert_equal [503, "text/html; charset=utf-8", "60", "no-store", "close"],
                 [response.status, *response.to_h[:fields].to_h.slice("content-type", "retry-after", "cache-control",
                                                                      "connection")
                                            .values_at("content-type", "retry-after", "cache-control", "connection")]
    server.directory.write(PAGE, "<h1>later</h1>")
    await_body(server, "<h1>later</h1>")
    File.delete(File.join(server.directory.path, PAGE))
    await_body(server, "application")
    await_log(server, / info maintenance begins$.* info maintenance ends$/m)
  end

  def test_other_clients_get_a_sentence_and_bodies_are_not_read
    server = site(PAGE => "<h1>soon</h1>")
    assert_equal [503, SENTENCE], server.get.then { |response| [response.status, response.body] }
    large = ask(server, "POST", "/", body: "x" * 300_000).read_response
    assert_equal [503, SENTENCE], [large.status, large.body]
    assert_equal 503, ask(server, "GET", "/file.txt").read_response.status
  end

  def test_the_check_of_a_load_balancer_reaches_the_application
    assert_equal [200, 503], %w[/up?x /upper].map { |path| site(PAGE => "soon").get(path).status }
  end

  def test_a_page_that_cannot_be_read_is_a_sentence
    server = site("tmp/.keep" => "")
    Dir.mkdir(File.join(server.directory.path, PAGE))
    await_body(server, SENTENCE)
    assert_equal 503, server.get(fields: BROWSER).status
    assert_match(/ error the maintenance page cannot be read cause=/, server.log)
  end

  def test_a_fifo_in_place_of_the_page_is_a_sentence_until_it_is_gone
    server = site(PAGE => "<h1>soon</h1>")
    path = File.join(server.directory.path, PAGE)
    File.delete(path)
    File.mkfifo(path)
    await_body(server, SENTENCE)
    File.delete(path)
    await_body(server, "application")
  end

  private

  def site(files)
    serve(APP, files: { "public/file.txt" => "file", **files },
               args: ["--maintenance", PAGE, "--readiness-path", "/up", "--static", "public"])
  end

  def await_body(server, body)
    eventually(message: body) { server.get(fields: BROWSER).body == body }
  end
end
