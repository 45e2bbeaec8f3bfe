# frozen_string_literal: true

require "test_helper"

# ActionController::Live: a thread of Rails' own writes the response while the application runs.
class RailsLiveTest < Support::ShopTest
  FIRST = "event: tick\ndata: first\n\n"
  FIRST_DATA = "data: first\n\n"
  SECOND_DATA = "data: second\n\n"

  def test_an_event_reaches_the_client_at_once
    in_threads_and_fibers do |options|
      server = shop(**options)
      client = ask(server, "GET", "/events/two")

      assert_includes client.read_through(FIRST_DATA), "content-type: text/event-stream"
      server.directory.write("go", "")
      assert_includes client.read_through("0\r\n\r\n"), SECOND_DATA
      assert_equal "two", ended(server).first
    end
  end

  def test_many_streams_wait_at_once_in_fibers
    skip "fibers need Rails 7.0 or later" unless FIBERS
    server = shop(fibers: 32)
    clients = Array.new(20) { ask(server, "GET", "/events/two") }
    clients.each { |client| client.read_through(FIRST_DATA) }

    assert_equal 200, server.get("/items").status
    server.directory.write("go", "")
    clients.each { |client| assert_includes client.read_through("0\r\n\r\n"), SECOND_DATA }
  end

  def test_a_client_that_leaves_ends_the_writer
    in_threads_and_fibers do |options|
      server = shop(**options)
      client = ask(server, "GET", "/events/endless")
      client.read_through("data: tick")
      client.close

      assert_equal ["endless", "ActionController::Live::ClientDisconnected"], ended(server)
      assert_equal [200] * 8, Array.new(8) { server.get("/items").status }
    end
  end

  def test_an_error_after_the_first_event_ends_the_response_and_no_worker
    in_threads_and_fibers do |options|
      server = shop(**options)
      pids = server.children
      assert_equal FIRST, server.get("/events/broken").body
      assert_equal 500, server.get("/events/early").status

      await_log(server, /broken while it streams/)
      assert_equal pids, server.children
    end
  end

  private

  # The action whose writer has ended, and its error.
  def ended(server)
    eventually { server.directory.read("ended")[/.*\n/]&.split }
  end
end
