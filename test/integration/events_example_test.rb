# frozen_string_literal: true

require "json"
require "test_helper"

class EventsExampleTest < Support::SharedServerTest
  EXAMPLE = File.expand_path("../../examples/events", __dir__)
  FORM = { "Content-Type" => "application/x-www-form-urlencoded" }.freeze

  serves nil, workers: 1, threads: nil, fibers: 64, args: ["#{EXAMPLE}/config.ru", "--static", "#{EXAMPLE}/public"]

  def test_a_message_reaches_everybody_at_once
    listeners = Array.new(20) { listen }
    assert_equal 204, publish("Zoë says <b>hi</b>").status

    listeners.each { |listener| assert find_message(listener, "Zoë says <b>hi</b>") }
  end

  def test_a_text_that_is_none_is_refused
    bad = ["text=", "text=%20", "other=1", "text[]=1", "text=#{"x" * 281}"]

    statuses = bad.map { |body| server.request("POST", "/messages", fields: FORM, body: body).status }
    assert_equal [422] * bad.size, statuses
    assert_equal 403, publish("hi", "Sec-Fetch-Site" => "cross-site").status
    assert_equal 404, server.get("/none").status
  end

  def test_the_page_needs_nothing_from_elsewhere
    page = server.get("/").body

    assert_includes page, "<h1>Board</h1>"
    page.scan(/(?:href|src)="(\/[^"]+)"/).flatten.each { |path| assert_equal 200, server.get(path).status, path }
    refute_match(/https?:/, page)
  end

  private

  def listen(fields = {})
    connect.request("GET", "/events", fields: fields).tap { |client| client.read_through("retry: 1000\n\n") }
  end

  def publish(text, fields = {})
    server.request("POST", "/messages", fields: FORM.merge(fields), body: URI.encode_www_form("text" => text))
  end

  # The event with this text, after those of earlier tests.
  def find_message(client, text)
    found = next_message(client) until found&.fetch("text") == text
    found
  end

  # The next event, with its id.
  def next_message(client)
    event = client.read_through("}\n\n").force_encoding(Encoding::UTF_8)
    JSON.parse(event[/^data: (.*)$/, 1]).merge("id" => event[/^id: (\d+)$/, 1])
  end
end
