# frozen_string_literal: true

require "rack"
require "test_helper"

# Every kind of response body, on its way through worker and edge to a client.
class RackBodyTest < Support::SharedServerTest
  serves Support::RackBodies::APP, env: { "RACK_ENV" => "test" }

  LARGE = "0123456789abcdef" * 65_536

  def teardown
    refute_includes log, "LintError"
    super
  end

  def test_large_strings_come_with_their_length
    response = server.get("/raw/large")
    assert_equal 2 * LARGE.bytesize, response.content_length
    assert response.body == LARGE * 2
  end

  def test_each_kind_comes_whole_with_its_length_if_that_is_known_and_is_closed_once
    { "/raw/array" => ["ab", 2], "/enumerator" => ["onetwo", nil], "/each" => ["onetwo", nil], "/known" => ["one", 3],
      "/empty" => ["", 0] }.each do |path, expected|
      response = server.get(path)

      assert_equal expected, [response.body, response.content_length], path
      assert_closed_once path if %w[/each /known /empty].include?(path)
    end
  end

  def test_a_file_is_sent_by_its_path
    response = server.get("/raw/file")
    assert_equal LARGE.bytesize, response.content_length
    assert response.body == LARGE
    assert_closed_once "/file"
  end

  def test_a_callable_writes_its_body
    assert_equal "onetwo", server.get(rack3? ? "/callable" : "/raw/callable").body
    assert_closed_once "/callable"
  end

  def test_head_has_the_headers_without_the_body
    { "/known" => 3, "/each" => nil }.each do |path, length|
      response = server.request("HEAD", path)
      assert_equal [200, length, ""], [response.status, response.content_length, response.body]
      assert_closed_once path
    end
  end

  def test_head_of_an_endless_body_ends
    assert_equal 200, server.request("HEAD", "/endless").status
    assert_closed_once "/endless"
  end

  def test_a_client_that_goes_ends_the_body
    client = connect
    client.request("GET", "/endless")
    client.read_exactly(LARGE.bytesize)
    client.reset
    assert_closed_once "/endless"
    assert_equal "ab", server.get("/array").body
    refute_match(/Error/, log)
  end

  def test_an_error_in_each_cuts_the_connection
    client = connect
    client.request("GET", "/broken")
    refute_match(/^0\r\n\r\n\z/, client.read_to_end)
    eventually(message: "the report") { log.include?("broken each (RuntimeError)") }
    assert_closed_once "/broken"
    assert_equal "ab", server.get("/array").body
  end

  def test_an_error_before_the_first_piece_is_an_internal_server_error
    assert_equal 500, server.get("/unbegun").status
    assert_closed_once "/unbegun"
  end

  def test_what_the_application_raises_is_an_internal_server_error
    client = connect
    assert_equal [500, "Internal Server Error\n"], client.get("/raise").to_h.values_at(:status, :body)
    await_log(server, %r{GET /raise: \S+config.ru:\d+:in .*broken application \(RuntimeError\)})
    assert_equal "ab", client.get("/array").body
  end

  def test_several_cookies_are_several_headers
    assert_equal %w[a=1 b=2], server.get("/cookies").values("set-cookie")
  end

  private

  # The body is closed when its answer has been handed over, which may be after the client has it.
  def assert_closed_once(name)
    eventually(message: "closing #{name}") { log.include?("closed #{name}\n") }
    server.get("/array")
    assert_equal 1, log.scan("closed #{name}\n").size
    @log_start = server.log.size
  end

  def rack3?
    Rack.release >= "3"
  end
end
